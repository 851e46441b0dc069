import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { BlobMissingError, type BlobStore } from '../../../stores/blobs/blob-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

const hashOf = (content: Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

async function read(blobs: BlobStore, sha256: string, range?: { offset?: number; length?: number }) {
  const pieces: Buffer[] = [];
  for await (const piece of blobs.read(sha256, range)) {
    pieces.push(piece);
  }
  return { content: Buffer.concat(pieces), longest: Math.max(0, ...pieces.map(({ length }) => length)) };
}

const soon = () => new Date(Date.now() + 60_000);

export function blobsContract(harness: StoreHarness): void {
  describe('blobs', () => {
    const stores = useTwoConnections(harness);
    let one: BlobStore;
    let other: BlobStore;
    beforeAll(async () => {
      const name = uniqueName();
      one = await stores.one.blobs(name);
      other = await stores.other.blobs(name);
    });

    it('keeps content under its hash, for every process', async () => {
      const content = randomBytes(600_000);
      expect(await one.put(content)).toEqual({ sha256: hashOf(content), bytes: content.length });
      expect(await other.size(hashOf(content))).toBe(content.length);
      const { content: found, longest } = await read(other, hashOf(content));
      expect(found.equals(content)).toBe(true);
      // In pieces: a range of a large body costs no more memory than the range.
      expect(longest).toBeLessThan(300_000);
    });

    it('keeps nothing at all too', async () => {
      const { sha256 } = await one.put(new Uint8Array());
      expect(await one.size(sha256)).toBe(0);
      expect((await read(one, sha256)).content).toHaveLength(0);
    });

    it('reads every range as a slice of the whole', async () => {
      const content = randomBytes(300_000);
      const { sha256 } = await one.put(content);
      await fc.assert(
        fc.asyncProperty(fc.nat(310_000), fc.nat(310_000), async (offset, length) => {
          const { content: found } = await read(one, sha256, { offset, length });
          expect(found.equals(content.subarray(offset, offset + length))).toBe(true);
        }),
        { numRuns: 25 },
      );
    });

    it('takes the same content twice, from two processes at once', async () => {
      const content = randomBytes(1_000);
      await Promise.all([one.put(content), other.put(content), one.put(content)]);
      expect((await read(other, hashOf(content))).content.equals(content)).toBe(true);
    });

    it('lets a reader leave early', async () => {
      const { sha256 } = await one.put(randomBytes(600_000));
      for await (const piece of one.read(sha256)) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
    });

    it('removes what has not been used since, once and for all', async () => {
      const content = randomBytes(300_000);
      const { sha256 } = await one.put(content);
      expect(await other.remove(sha256, new Date(Date.now() - 60_000))).toBe(false);
      expect((await read(one, sha256)).content.equals(content)).toBe(true);
      expect(await other.remove(sha256, soon())).toBe(true);
      expect(await one.size(sha256)).toBeUndefined();
      await expect(read(one, sha256)).rejects.toThrow(BlobMissingError);
      expect(await other.remove(sha256, soon())).toBe(true);
      await one.put(content);
      expect((await read(other, sha256)).content.equals(content)).toBe(true);
    });

    it('never loses content that is put while it is removed', async () => {
      const content = randomBytes(5_000);
      for (let round = 0; round < 20; round += 1) {
        const { sha256 } = await one.put(content);
        const before = new Date();
        await new Promise((resolve) => setImmediate(resolve));
        const [removed] = await Promise.all([other.remove(sha256, before), one.put(content)]);
        expect([true, false]).toContain(removed);
        expect((await read(one, sha256)).content.equals(content)).toBe(true);
      }
    });

    it('takes nothing for a hash that is none', async () => {
      for (const name of ['../../etc/passwd', 'sha256:..', '', `sha256:${'A'.repeat(64)}`, 'a'.repeat(64)]) {
        await expect(one.size(name)).rejects.toThrow(TypeError);
        await expect(read(one, name)).rejects.toThrow(TypeError);
        await expect(one.remove(name, soon())).rejects.toThrow(TypeError);
      }
    });
  });
}
