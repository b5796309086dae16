/*
 * Where a victim keeps its secret, for victim.c and for what looks for it; its key is called as it
 * is itself.
 */
#define SECRET_MAX 128
#define SECRET_DESCRIPTOR 9
#define SHARED_MEMORY_KEY 0x6163706b
#define QUEUE_NAME "/escape-kit"
