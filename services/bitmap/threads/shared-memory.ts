/** Bytes of memory without a use that are retained for the next copy. */
const maxFree = 33_554_432;

/**
 * Memory that all threads see. It is used again as soon as it is released: the garbage collector does not know how much
 * of it there is, and comes late.
 */
export class SharedMemory {
  private readonly free = new Map<number, Uint8Array[]>();
  private freeBytes = 0;

  constructor(private readonly allocate: (size: number) => Uint8Array) {}

  take(size: number): Uint8Array {
    const room = roomFor(size);
    const used = this.free.get(room)?.pop();
    if (used) {
      this.freeBytes -= room;
    }
    return used ?? this.allocate(room);
  }

  /** Only for memory without a reader. */
  release(bytes: Uint8Array): void {
    const room = bytes.length;
    if (this.freeBytes + room > maxFree) {
      return;
    }
    this.freeBytes += room;
    const list = this.free.get(room);
    if (list) {
      list.push(bytes);
    } else {
      this.free.set(room, [bytes]);
    }
  }
}

/** At most a quarter more than is needed, so that there are few different sizes. */
function roomFor(size: number): number {
  const step = 2 ** Math.max(Math.floor(Math.log2(Math.max(size, 1))) - 2, 6);
  return Math.ceil(size / step) * step;
}
