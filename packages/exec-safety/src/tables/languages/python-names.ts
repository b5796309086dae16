/**
 * Python names: what a script that only computes and prints may name. Every object that one of
 * these names leads to is without harm, whatever it is called with. Data.
 */

import { words } from "./script.js";

/**
 * Words of the language. `while` may not end; `class`, `case` and `async` read attributes by names
 * of their own.
 */
export const KEYWORDS: ReadonlySet<string> = words(`
  False None True and as assert break continue def del elif else except finally for from global if import in is lambda nonlocal not or pass
  raise return try with yield`);

export const REFUSED: ReadonlySet<string> = words("while class case async await");

/**
 * Modules of the standard library, none of which opens, runs or asks anything for the attributes
 * below.
 */
export const MODULES: ReadonlySet<string> = words(`
  ast base64 binascii bisect calendar collections csv datetime decimal difflib fractions functools hashlib heapq html itertools json math pprint
  random re shlex statistics string struct sys textwrap time unicodedata urllib.parse zlib`);

/** Builtins, without those that run text, open files, or reach attributes by their names. */
export const BUILTINS: ReadonlySet<string> = words(`
  abs all any ascii bin bool bytearray bytes callable chr complex dict dir divmod enumerate exit filter float format frozenset hasattr hash hex id
  int isinstance issubclass iter len list map max min next oct ord pow print quit range repr reversed round set slice sorted str sum tuple type zip
  ArithmeticError AssertionError AttributeError EOFError Exception FileNotFoundError ImportError IndexError KeyError KeyboardInterrupt LookupError
  NameError NotImplementedError OSError OverflowError RecursionError RuntimeError StopIteration SyntaxError SystemExit TypeError UnicodeDecodeError
  UnicodeError ValueError ZeroDivisionError`);

/** All other names that mean something before a script gives them a meaning. */
export const OTHER_BUILTINS: ReadonlySet<string> = words(`
  aiter anext breakpoint classmethod compile copyright credits delattr eval exec execfile getattr globals help input intern license locals
  memoryview object open property raw_input reduce reload setattr staticmethod super unichr vars apply buffer coerce cmp`);

/**
 * Attributes, of whatever object. Neither `format`, which reads attributes by names in a string,
 * nor `sys.path` is among them.
 */
export const ATTRIBUTES: ReadonlySet<string> = words(`
  split rsplit strip lstrip rstrip join replace startswith endswith lower upper title capitalize casefold swapcase find rfind index rindex count
  isdigit isalpha isalnum isspace isupper islower isnumeric isdecimal isidentifier splitlines partition rpartition zfill ljust rjust center
  encode decode removeprefix removesuffix expandtabs translate maketrans fromhex hex bit_length to_bytes from_bytes is_integer real imag
  append extend insert pop remove sort reverse copy clear get items keys values update setdefault popitem fromkeys add discard union intersection
  difference symmetric_difference issubset issuperset isdisjoint args
  compile match search findall finditer sub subn fullmatch escape group groups groupdict start end span pattern lastindex IGNORECASE MULTILINE
  DOTALL VERBOSE ASCII I M S X
  loads dumps load dump JSONDecodeError
  sqrt cbrt floor ceil log log2 log10 log1p exp expm1 pi e tau inf nan sin cos tan asin acos atan atan2 sinh cosh tanh gcd lcm factorial comb perm
  hypot radians degrees prod trunc isnan isinf isfinite isclose isqrt fsum dist fabs fmod modf copysign erf gamma
  argv version version_info executable platform byteorder maxsize stdin stdout stderr exit implementation name major minor micro read readline
  readlines buffer write writelines flush close float_info
  datetime date time timedelta timezone now today utcnow utc strftime strptime isoformat fromisoformat fromtimestamp timestamp days seconds
  microseconds total_seconds year month day hour minute second microsecond weekday isoweekday isocalendar combine astimezone fromordinal toordinal
  perf_counter monotonic time_ns localtime gmtime mktime monthrange isleap monthcalendar day_name month_name
  Counter defaultdict OrderedDict deque namedtuple ChainMap most_common elements popleft appendleft extendleft rotate
  chain product permutations combinations combinations_with_replacement islice groupby accumulate zip_longest takewhile dropwhile starmap
  from_iterable pairwise tee compress batched reduce partial lru_cache cache cmp_to_key
  ascii_letters ascii_lowercase ascii_uppercase digits punctuation hexdigits octdigits printable whitespace
  mean median mode stdev variance pstdev pvariance quantiles fmean median_low median_high multimode
  Decimal quantize as_tuple Fraction numerator denominator limit_denominator
  seed randint choice choices shuffle sample random uniform randrange gauss
  b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode b85encode b85decode hexlify unhexlify crc32
  adler32 decompress md5 sha1 sha224 sha256 sha384 sha512 blake2b sha3_256 hexdigest digest
  pack unpack calcsize unpack_from iter_unpack dedent indent fill wrap shorten
  reader DictReader writer DictWriter writerow writerows writeheader fieldnames
  unified_diff ndiff get_close_matches SequenceMatcher ratio unescape heappush heappop heapify nlargest nsmallest bisect bisect_left bisect_right
  insort category normalize bidirectional parse urlparse urlsplit quote unquote quote_plus unquote_plus urlencode parse_qs parse_qsl urljoin
  netloc scheme hostname query fragment literal_eval pprint pformat`);
