/** Memory that a program of WebAssembly shares with this one. */
export interface SharedMemory {
  /** Another one after each growth. */
  readonly buffer: ArrayBuffer;
  /** @param pages of 64 KB. @throws RangeError when there is no room for them */
  grow(pages: number): number;
}

/** What is used of Node's global `WebAssembly`, whose types come with those of browsers only. */
interface WebAssemblyApi {
  Memory: new (size: { initial: number }) => SharedMemory;
  Module: new (program: Uint8Array) => object;
  Instance: new (program: object, imports: object) => { exports: Record<string, unknown> };
  CompileError: new () => Error;
}

export const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi };
