import { captureOutput } from '../../../domain/events/output-artifact';
import { BlobMissingError } from '../../../stores/blobs/blob-store';
import type { Database } from '../../../stores/port/collection';
import { createOutputArtifactStore } from '../../../stores/runs/output-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

const captured = (attemptId: string, key: string, text: string) =>
  captureOutput(attemptId, key, {
    kind: 'stdout',
    name: null,
    mediaType: 'text/plain; charset=utf-8',
    originalBytes: text.length,
    truncated: false,
    body: Buffer.from(text),
  });

/** The artifacts of runs on every adapter: records and content belong together. */
export function outputArtifactsContract(harness: StoreHarness): void {
  describe('output artifacts', () => {
    const stores = useTwoConnections(harness);
    /** An attempt of its own, and a store whose artifacts expire after a second on a clock that can be moved. */
    async function aStore(db: Database = stores.one) {
      const clock = { offsetMs: 0 };
      const store = await createOutputArtifactStore(
        db,
        { retentionMs: 1_000, restMs: 0 },
        () => new Date(Date.now() + clock.offsetMs),
      );
      const attemptId = `attempt_${uniqueName()}`;
      const source = { taskId: 'task_20260101_ab', attemptId };
      const text = async (sha256: string) => {
        const pieces: Buffer[] = [];
        for await (const piece of store.read(sha256)) {
          pieces.push(piece);
        }
        return Buffer.concat(pieces).toString();
      };
      const due = async () => (await store.due('', 1_000)).filter((record) => record.attemptId === attemptId);
      return { store, source, attemptId, clock, text, due };
    }

    it('keeps what was captured, once', async () => {
      const { store, source, attemptId, text } = await aStore();
      const output = captured(attemptId, 'k', `content of ${attemptId}`);
      await store.keep(source, output);
      await store.keep(source, output);
      const { body: _body, id, ...facts } = output;
      expect(await store.get(id)).toMatchObject({ ...facts, ...source, state: 'available', lease: { attemptId } });
      expect(await text(output.sha256)).toBe(`content of ${attemptId}`);
    });

    it('withholds content once', async () => {
      const { store, source, attemptId } = await aStore();
      const output = captured(attemptId, 'k', attemptId);
      await store.keep(source, output);
      expect(await store.quarantine(output.id, 'hash-mismatch')).toMatchObject({
        state: 'quarantined',
        quarantine: { reason: 'hash-mismatch' },
      });
      expect(await store.quarantine(output.id, 'missing')).toBeUndefined();
    });

    it('expires content when its time is over, but not while another artifact has the same', async () => {
      const { store, source, attemptId, clock, text, due } = await aStore();
      const [first, second] = ['a', 'b'].map((key) => captured(attemptId, key, `same of ${attemptId}`));
      await store.keep(source, first!);
      await store.keep(source, second!);
      expect(await due()).toEqual([]);
      clock.offsetMs = 2_000;
      expect((await due()).map(({ _id }) => _id).sort()).toEqual([first!.id, second!.id].sort());

      expect(await store.expire(await mustGet(store, first!.id))).toBe(true);
      expect(await store.get(first!.id)).toMatchObject({ state: 'expired', lease: null, bytes: first!.bytes });
      expect(await text(second!.sha256)).toBe(`same of ${attemptId}`);
      expect(await due()).toHaveLength(1);
      expect(await store.expire(await mustGet(store, second!.id))).toBe(true);
      await expect(text(second!.sha256)).rejects.toThrow(BlobMissingError);
      expect(await due()).toEqual([]);
    });

    it('removes the content of what is withheld too, and continues saying why', async () => {
      const { store, source, attemptId, clock, text, due } = await aStore();
      const output = captured(attemptId, 'k', attemptId);
      await store.keep(source, output);
      await store.quarantine(output.id, 'secret-shape');
      clock.offsetMs = 2_000;
      for (const record of await due()) {
        await store.expire(record);
      }
      expect(await store.get(output.id)).toMatchObject({
        state: 'quarantined',
        quarantine: { reason: 'secret-shape' },
      });
      await expect(text(output.sha256)).rejects.toThrow(BlobMissingError);
    });

    it('leaves content that was put a moment ago for the next time', async () => {
      const { source, attemptId } = await aStore();
      const patient = await createOutputArtifactStore(stores.other, { retentionMs: 1, restMs: 60_000 });
      const output = captured(attemptId, 'k', attemptId);
      await patient.keep(source, output);
      expect(await patient.expire(await mustGet(patient, output.id))).toBe(false);
      expect(await patient.get(output.id)).toMatchObject({ state: 'expired', hasBody: true });
    });
  });
}

async function mustGet(store: Awaited<ReturnType<typeof createOutputArtifactStore>>, id: string) {
  const record = await store.get(id);
  if (!record) {
    throw new Error(`no artifact ${id}`);
  }
  return record;
}
