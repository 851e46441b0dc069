import { type SharedMemory, webAssembly } from './web-assembly';

/** `dot-products.wat`, assembled: about 300 bytes, which need no step of a build. A test assembles the text again and compares. */
export const assembledDotProducts =
  'AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwIBAAcIAQRkb3RzAAAKoAIBnQICAn8EewJAA0AgA0UNASABIQUgACACaiEG/QwAAAAA' +
  'AAAAAAAAAAAAAAAAIQf9DAAAAAAAAAAAAAAAAAAAAAAhCP0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQoDQCAHIAD9AAQAIAX9' +
  'AAQA/eYB/eQBIQcgCCAA/QAEECAF/QAEEP3mAf3kASEIIAkgAP0ABCAgBf0ABCD95gH95AEhCSAKIAD9AAQwIAX9AAQw/eYB/eQBIQogBUHAAGohBSAA' +
  'QcAAaiEAIAAgBkkNAAsgByAI/eQBIAkgCv3kAf3kASEHIAQgB/0fACAH/R8BkiAH/R8CIAf9HwOSkjgCACAEQQRqIQQgA0EBayEDDAALCws=';

/** Numbers that are multiplied at a time: vectors are padded with zeros to a multiple of it. */
export const lanes = 16;

/** Positions in the memory, in bytes: `count` vectors of `size` bytes each, a multiple of 4 times {@link lanes}. */
export interface ComparedVectors {
  vectors: number;
  query: number;
  size: number;
  count: number;
  out: number;
}

/** Writes the dot products of vectors, which lie one after another in the memory, with one query. */
export type DotProducts = (compared: ComparedVectors) => void;

/** By the vector instructions of the processor. @throws webAssembly.CompileError on a processor without them */
export function simdDotProducts(memory: SharedMemory): DotProducts {
  const program = new webAssembly.Module(Buffer.from(assembledDotProducts, 'base64'));
  const { exports } = new webAssembly.Instance(program, { env: { memory } });
  const dots = exports.dots as (...positions: number[]) => void;
  return ({ vectors, query, size, count, out }) => dots(vectors, query, size, count, out);
}

/** The same without them, in about six times as long. */
export function plainDotProducts(memory: SharedMemory): DotProducts {
  return ({ vectors, query, size, count, out }) => {
    const numbers = new Float32Array(memory.buffer);
    const length = size / 4;
    for (let vector = 0; vector < count; vector += 1) {
      const [begin, other] = [vectors / 4 + vector * length, query / 4];
      let [first, second, third, fourth] = [0, 0, 0, 0];
      for (let index = 0; index < length; index += 4) {
        first += (numbers[begin + index] ?? 0) * (numbers[other + index] ?? 0);
        second += (numbers[begin + index + 1] ?? 0) * (numbers[other + index + 1] ?? 0);
        third += (numbers[begin + index + 2] ?? 0) * (numbers[other + index + 2] ?? 0);
        fourth += (numbers[begin + index + 3] ?? 0) * (numbers[other + index + 3] ?? 0);
      }
      numbers[out / 4 + vector] = first + second + third + fourth;
    }
  };
}

/** The fastest of the two that this processor has. */
export function dotProducts(memory: SharedMemory): DotProducts {
  try {
    return simdDotProducts(memory);
  } catch (error) {
    if (error instanceof webAssembly.CompileError) {
      return plainDotProducts(memory);
    }
    throw error;
  }
}
