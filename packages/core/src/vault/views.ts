/**
 * Views: a byte stream as a reader sees it who reads escapes away, one kind after the other. Each
 * kind is read out of what the kind before left, once for all views that begin alike; and a view
 * costs nothing while it sees what another one sees.
 */
import type { Masks } from "./patterns.js";
import type { Spans } from "./spans.js";
import {
  createRun,
  isSame,
  type Kept,
  NOTHING_KEPT,
  openIn,
  roomBefore,
  searchBlock,
  type Reader,
  type Stream,
} from "./stream.js";
import {
  type Escapes,
  formEscapes,
  htmlEscapes,
  jsonEscapes,
  lineBreaks,
  percentEscapes,
  firstEscape,
  type Run,
  unescape,
} from "./unescape.js";

/** A block of the stream to read. */
export interface BlockPlace {
  /** Where it starts in the stream, and how long it is. */
  readonly position: number;
  readonly length: number;
  /** Whether the stream ends there. */
  readonly isOver: boolean;
}

/** All views of a stream. */
export interface Views {
  /** @param root - The block as it is. */
  scan(root: Stream, place: BlockPlace): void;
  /**
   * The first place in which a value may still begin, counted from the end of the last block;
   * `Infinity` where there is none.
   */
  openFrom(): number;
  /**
   * The same, of the views that leave line breaks in: after the end of a line only a value of
   * several lines may still go on.
   */
  openUnwrappedFrom(): number;
  /** Whether some view holds bytes back that may begin an escape. */
  isPending(): boolean;
  /** The stream is over; another one may come. */
  reset(): void;
}

/** What is read away, and what of what remains. */
interface Tree {
  readonly escapes: Escapes;
  readonly below?: readonly Tree[];
  /** Only where a value has a blank. */
  readonly isForm?: boolean;
}

const leaf = (escapes: Escapes): Tree => ({ escapes });
const FORM: Tree = { escapes: formEscapes, isForm: true };
const lines = leaf(lineBreaks);
const twiceJson: Tree = { escapes: jsonEscapes, below: [leaf(jsonEscapes)] };

/**
 * JSON in JSON in JSON, an address in an address, HTML in HTML; any two kinds; wrapped lines, also
 * where their breaks are escaped.
 */
const TREES: readonly Tree[] = [
  {
    escapes: jsonEscapes,
    below: [twiceJson, leaf(percentEscapes), leaf(htmlEscapes), lines, FORM],
  },
  {
    escapes: percentEscapes,
    below: [leaf(jsonEscapes), leaf(percentEscapes), leaf(htmlEscapes), lines],
  },
  {
    escapes: htmlEscapes,
    below: [leaf(jsonEscapes), leaf(percentEscapes), leaf(htmlEscapes), lines],
  },
  lines,
  FORM,
];

/** One view. */
interface View {
  /** Reads a block; returns what it sees. */
  scan(source: Stream, place: BlockPlace): Stream;
  openFrom(): number;
  isPending(): boolean;
  reset(): void;
  readonly below: readonly View[];
}

/** The views that the masks need. */
export function createViews(masks: Masks, add: Spans["add"]): Views {
  const all: View[] = [];
  const unwrapped: View[] = [];
  const plant = (trees: readonly Tree[]): readonly View[] =>
    trees
      .filter(({ isForm = false }) => masks.hasBlank || !isForm)
      .map(({ escapes, below = [] }) => {
        const view = createView(masks, escapes, { add, below: plant(below) });
        all.push(view);
        // Nothing is below line breaks: what does not read them away itself leaves them in.
        if (escapes !== lineBreaks) unwrapped.push(view);
        return view;
      });
  const roots = plant(TREES);
  const scan = (views: readonly View[], source: Stream, place: BlockPlace): void => {
    const seen = views.map((view) => view.scan(source, place));
    // Those below come after all of these, which may have read what they need.
    for (const [at, view] of views.entries()) scan(view.below, seen[at] ?? source, place);
  };
  return {
    scan: (root, place) => scan(roots, root, place),
    openFrom: () => firstOpen(all),
    openUnwrappedFrom: () => firstOpen(unwrapped),
    isPending: () => all.some((view) => view.isPending()),
    reset() {
      for (const view of all) view.reset();
    },
  };
}

const firstOpen = (views: readonly View[]): number =>
  views.reduce((from, view) => Math.min(from, view.openFrom()), Number.POSITIVE_INFINITY);

/** What a view is made of besides what it reads away. */
interface ViewParts {
  readonly add: Spans["add"];
  readonly below: readonly View[];
}

/** Writes what is kept of the block before into a run, up to the place where the block begins. */
function putBefore(run: Run, from: number, kept: Kept): void {
  const first = from - kept.bytes.length;
  run.bytes.set(kept.bytes, first);
  run.starts.set(kept.starts, first);
  run.ends.set(kept.ends, first);
}

/** Whether a stream holds nothing to read away. */
function isPlain(escapes: Escapes, { leads, bytes, ...range }: Stream): boolean {
  return (leads & escapes.leads) === 0 || firstEscape(escapes, bytes, range) === range.to;
}

function createView({ plain }: Masks, escapes: Escapes, { add, below }: ViewParts): View {
  const from = roomBefore(plain);
  let room: Run | undefined;
  let kept = NOTHING_KEPT;
  /** How many of the source's last bytes may begin an escape, and where. */
  let pending = 0;
  let pendingFrom = Number.POSITIVE_INFINITY;

  /** Somebody else who sees the same. */
  const alike = (source: Stream): Reader | undefined => {
    if (pending === 0 && isSame(source.before, kept) && isPlain(escapes, source))
      return { escapes, pending, stream: source, pendingAfter: 0 };
    return source.readings.find(
      (each) =>
        each.escapes === escapes && each.pending === pending && isSame(each.stream.before, kept),
    );
  };

  const read = (source: Stream, { position, length, isOver }: BlockPlace): Reader => {
    const bytesMax = source.to - source.from + pending;
    if (room === undefined || room.bytes.length < from + bytesMax)
      room = createRun(plain, bytesMax);
    const run = room;
    putBefore(run, from, kept);
    const range = { from: source.from - pending, to: source.to, isOver };
    const unescaped = unescape(escapes, { source, ...range, target: run, at: from });
    const { to, leads } = unescaped;
    const after = searchBlock(plain, { run, to, before: kept, position, length }, add);
    const stream: Stream = { ...run, from, to, leads, before: kept, after, readings: [] };
    const reader: Reader = { escapes, pending, stream, pendingAfter: unescaped.pending };
    source.readings.push(reader);
    return reader;
  };

  return {
    below,
    scan(source, place) {
      const { stream, pendingAfter } = alike(source) ?? read(source, place);
      kept = stream.after;
      pending = pendingAfter;
      pendingFrom =
        pending === 0
          ? Number.POSITIVE_INFINITY
          : (source.starts[source.to - pending] ?? 0) - place.length;
      return stream;
    },
    openFrom: () => Math.min(openIn(kept, plain), pendingFrom),
    isPending: () => pending > 0,
    reset() {
      kept = NOTHING_KEPT;
      pending = 0;
      pendingFrom = Number.POSITIVE_INFINITY;
    },
  };
}
