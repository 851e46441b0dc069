import { BlobMissingError } from '../../../stores/blobs/blob-store';
import { createOutputArtifactStore } from '../../../stores/runs/output-store';
import { createAttachmentStore } from '../../../stores/tasks/attachment-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

/** The contents of attachments on every adapter. */
export function attachmentsContract(harness: StoreHarness): void {
  describe('attachments', () => {
    const stores = useTwoConnections(harness);
    const clock = { offsetMs: 0 };
    const now = () => new Date(Date.now() + clock.offsetMs);
    const open = (restMs = 0) => createAttachmentStore(stores.one, { restMs }, now);

    type Store = Awaited<ReturnType<typeof open>>;
    const add = async (store: Store, content: string, text?: string) => {
      const id = `att_${uniqueName()}`;
      const sha256 = await store.add({ id, taskId: 'task_20260101_ab', content: Buffer.from(content), text });
      return { id, sha256 };
    };
    const read = async (store: Store, sha256: string) => {
      const pieces: Buffer[] = [];
      for await (const piece of store.read(sha256)) {
        pieces.push(piece);
      }
      return Buffer.concat(pieces).toString();
    };

    it('keep their content and their text', async () => {
      const store = await open();
      const content = uniqueName();
      const { id, sha256 } = await add(store, content, 'its text');
      const other = await createAttachmentStore(stores.other);
      expect(await read(other, sha256)).toBe(content);
      expect([await other.text(id), await other.size(sha256)]).toEqual(['its text', content.length]);
      expect(await other.text((await add(store, content)).id)).toBeUndefined();
    });

    it('go when they are released, and their content with the last that has it', async () => {
      const store = await open();
      const content = uniqueName();
      const [first, second] = [await add(store, content, 'text'), await add(store, content)];
      await store.confirm([first.id, second.id]);
      expect(await store.remove(first.id)).toBe(false);
      await store.release([first.id]);
      expect(await store.remove(first.id)).toBe(true);
      expect(await store.text(first.id)).toBeUndefined();
      expect(await read(store, second.sha256)).toBe(content);
      await store.release([second.id]);
      clock.offsetMs += 10;
      expect(await store.remove(second.id)).toBe(true);
      await expect(read(store, second.sha256)).rejects.toThrow(BlobMissingError);
      expect(await store.remove(second.id)).toBe(true);
    });

    it('that are in doubt keep the content of a released one', async () => {
      const store = await open();
      const content = uniqueName();
      const [first, second] = [await add(store, content), await add(store, content)];
      await store.confirm([first.id, second.id]);
      await store.doubt([second.id]);
      await store.release([first.id]);
      expect(await store.remove(first.id)).toBe(true);
      expect(await read(store, second.sha256)).toBe(content);
    });

    it('that were put a moment ago stay until the next time', async () => {
      const store = await open(60_000);
      const { id } = await add(store, uniqueName());
      await store.release([id]);
      expect(await store.remove(id)).toBe(false);
      expect((await store.released('', 1_000)).map(({ _id }) => _id)).toContain(id);
    });

    it('without a decision are found, the oldest first', async () => {
      const store = await open();
      const { id } = await add(store, uniqueName());
      const early = new Date(now().getTime() - 60_000).toISOString();
      const late = new Date(now().getTime() + 60_000).toISOString();
      const found = async (before: string) => (await store.unconfirmed('', before, 1_000)).map(({ _id }) => _id);
      expect(await found(late)).toContain(id);
      expect(await found(early)).not.toContain(id);
      await store.confirm([id]);
      expect(await found(late)).not.toContain(id);
    });

    it('and output of runs share no content: what removes the one leaves the other', async () => {
      const store = await open();
      const artifacts = await createOutputArtifactStore(stores.one, { retentionMs: 1, restMs: 0 }, now);
      const content = uniqueName();
      const { sha256 } = await add(store, content);
      const body = Buffer.from(content);
      const facts = { kind: 'other' as const, name: null, mediaType: 'text/plain', originalBytes: 1, truncated: false };
      const artifact = { id: `artifact_${uniqueName()}`, sha256, bytes: body.length, body, ...facts };
      await artifacts.keep({ taskId: 'task_20260101_ab', attemptId: 'attempt_abcdefgh' }, artifact);
      clock.offsetMs += 10;
      expect(await artifacts.expire({ _id: artifact.id, sha256 })).toBe(true);
      expect(await read(store, sha256)).toBe(content);
    });
  });
}
