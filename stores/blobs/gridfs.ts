import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Db, GridFSBucket, ObjectId } from 'mongodb';
import { translated, translateError } from '../mongo/errors';
import { BlobMissingError, type BlobStore, hexOf } from './blob-store';

/** An upload this old belongs to a process that died, in milliseconds. */
const abandonedAfterMs = 3_600_000;

/** An upload under way; without it the chunks of a dead process could not be found. */
interface Upload {
  _id: ObjectId;
  at: Date;
}

interface BlobFile {
  _id: ObjectId;
  /** The bare hash. Two processes that put the same content at once make two files of it, each of them whole. */
  filename: string;
  length: number;
  metadata?: { usedAt: Date };
}

/** Opens the blobs in a GridFS bucket. */
export async function openGridFsBlobs(db: Db, name: string): Promise<BlobStore> {
  const bucket = new GridFSBucket(db, { bucketName: name });
  const files = db.collection<BlobFile>(`${name}.files`);
  const chunks = db.collection<{ files_id: ObjectId }>(`${name}.chunks`);
  const uploads = db.collection<Upload>(`${name}.uploads`);
  const run = <R>(operation: () => Promise<R>): Promise<R> => translated(name, operation);
  const newest = (sha256: string) =>
    run(() => files.findOne({ filename: hexOf(sha256) }, { sort: { uploadDate: -1 } }));

  await run(async () => {
    const abandoned = await uploads.find({ at: { $lt: new Date(Date.now() - abandonedAfterMs) } }).toArray();
    for (const { _id } of abandoned) {
      if (!(await files.findOne({ _id }))) {
        await chunks.deleteMany({ files_id: _id });
      }
      await uploads.deleteOne({ _id });
    }
  });

  async function upload(hex: string, content: Uint8Array): Promise<void> {
    const id = new ObjectId();
    await uploads.insertOne({ _id: id, at: new Date() });
    const stream = bucket.openUploadStreamWithId(id, hex, { metadata: { usedAt: new Date() } });
    stream.end(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
    await once(stream, 'finish');
    await uploads.deleteOne({ _id: id });
  }

  return {
    async put(content) {
      const hex = createHash('sha256').update(content).digest('hex');
      await run(async () => {
        const { matchedCount } = await files.updateMany({ filename: hex }, { $set: { 'metadata.usedAt': new Date() } });
        if (matchedCount === 0) {
          await upload(hex, content);
        }
      });
      return { sha256: `sha256:${hex}`, bytes: content.byteLength };
    },

    async size(sha256) {
      return (await newest(sha256))?.length;
    },

    async *read(sha256, { offset = 0, length = Infinity } = {}) {
      const file = await newest(sha256);
      if (!file) {
        throw new BlobMissingError(sha256);
      }
      const end = Math.min(file.length, offset + length);
      if (offset >= end) {
        return;
      }
      try {
        yield* bucket.openDownloadStream(file._id, { start: offset, end }) as AsyncIterable<Buffer>;
      } catch (error) {
        throw (await newest(sha256)) ? translateError(name, error) : new BlobMissingError(sha256);
      }
    },

    async remove(sha256, unusedSince) {
      const filename = hexOf(sha256);
      return run(async () => {
        const unused = { filename, 'metadata.usedAt': { $lt: unusedSince } };
        for (let doomed = await files.findOneAndDelete(unused); doomed; doomed = await files.findOneAndDelete(unused)) {
          await chunks.deleteMany({ files_id: doomed._id });
        }
        return (await files.countDocuments({ filename }, { limit: 1 })) === 0;
      });
    },
  };
}
