import type { Database, Stored } from '../../port/collection';

/** The vectors of the parts of one document, of one model. */
export interface DocumentVectors {
  id: string;
  /** Of the text that was embedded. */
  version: string;
  model: string;
  vectors: Float32Array[];
}

interface VectorDocument extends Stored {
  version: string;
  model: string;
  batch: number;
  vectors: string[];
}

interface StateDocument extends Stored {
  batch: number;
}

const stateId = 'vectors';
const pageSize = 200;

const encode = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

function decode(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 4));
}

/**
 * Vectors by document, each document written whole. Writers take turns and number their batches, which is how the copies in the
 * memory of processes follow: a batch is published once it is written.
 */
export async function createSearchVectorStore(db: Database) {
  const documents = await db.collection<VectorDocument>({
    name: 'search-vectors',
    indexes: [{ keys: { batch: 1, _id: 1 } }],
  });
  const state = await db.collection<StateDocument>({ name: 'search-vector-state' });
  return {
    published: async (): Promise<number> => (await state.get(stateId))?.batch ?? 0,

    /** Of one writer at a time. */
    put: async (batch: number, { id, vectors, ...fields }: DocumentVectors): Promise<void> => {
      const stored = { ...fields, batch, vectors: vectors.map(encode) };
      await documents.findOneAndUpdate({ _id: id }, { $set: stored }, { upsert: true });
    },

    publish: async (batch: number): Promise<void> => {
      await state.findOneAndUpdate({ _id: stateId }, { $set: { batch } }, { upsert: true });
    },

    /** What was written after a batch, and up to another one, with its batch; in the order of batches. */
    async *between(after: number, last: number): AsyncGenerator<DocumentVectors & { batch: number }> {
      for (let at = { batch: after + 1, id: '' }; ;) {
        const page = await documents.find(
          { batch: { $gte: at.batch, $lte: last }, $or: [{ batch: { $gt: at.batch } }, { _id: { $gt: at.id } }] },
          { sort: { batch: 1, _id: 1 }, limit: pageSize },
        );
        for (const { _id: id, vectors, ...fields } of page) {
          yield { id, ...fields, vectors: vectors.map(decode) };
        }
        const end = page.at(-1);
        if (!end || page.length < pageSize) {
          return;
        }
        at = { batch: end.batch, id: end._id };
      }
    },

    remove: async (ids: readonly string[]): Promise<void> => {
      for (let start = 0; start < ids.length; start += pageSize) {
        await documents.deleteMany({ _id: { $in: ids.slice(start, start + pageSize) } });
      }
    },
  };
}

export type SearchVectorStore = Awaited<ReturnType<typeof createSearchVectorStore>>;
