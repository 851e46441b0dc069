import type { TraceInput } from '../../../../contracts/governance/trace';
import { createTraceStore } from '../../../../stores/governance/trace-store';
import { workspaceDatabase } from '../../../../stores/port/workspace-database';
import { type StoreHarness, useTwoConnections } from '../harness';

const input = (title: string): TraceInput => ({ kind: 'policy', outcome: 'warned', title, summary: 'A rule warns.' });

/** Traces are in an inbox first and filed for searches later: no caller sees a difference. */
export function tracesContract(harness: StoreHarness): void {
  describe('governance trace store', () => {
    const databases = useTwoConnections(harness);
    let workspaces = 0;

    /** The store of a workspace that no other test uses, in two processes. */
    async function openBoth() {
      workspaces += 1;
      const id = `ws-${process.pid.toString(36)}${Date.now().toString(36)}${workspaces}`;
      return Promise.all([databases.one, databases.other].map((each) => createTraceStore(workspaceDatabase(each, id))));
    }

    it('finds a trace in another process as soon as it is acknowledged, and once', async () => {
      const [one, other] = await openBoth();
      const ids = await Promise.all(Array.from({ length: 450 }, async (_, at) => one?.record(input(`T${at}`))));
      const [first = ''] = ids;
      expect(await other?.get(first)).toMatchObject({ id: first, title: 'T0', raw: {} });

      const lists = await Promise.all([one?.list({ limit: 500 }), other?.list({ limit: 500, kind: 'policy' })]);
      for (const list of lists) {
        expect(new Set(list?.items.map(({ id }) => id))).toEqual(new Set(ids));
        expect(list?.items).toHaveLength(ids.length);
      }
    });

    it('leaves the first of a key as it is, before and after it is filed', async () => {
      const [one, other] = await openBoth();
      const keyed = (title: string): TraceInput => ({ ...input(title), dedupeKey: 'once' });
      const id = (await one?.record(keyed('First'))) ?? '';
      expect(await other?.record(keyed('Second'))).toBe(id);
      expect(await other?.list({ limit: 10 })).toMatchObject({ items: [{ title: 'First' }] });
      expect(await one?.record(keyed('Third'))).toBe(id);
      expect(await one?.get(id)).toMatchObject({ title: 'First' });
      expect(await one?.list({ limit: 10 })).toMatchObject({ items: [{ title: 'First' }] });
    });

    it('removes a trace wherever it is, and yields those that were not searched for yet', async () => {
      const [one, other] = await openBoth();
      const unfiled = (await one?.record(input('Unfiled'))) ?? '';
      expect(await other?.remove(unfiled)).toBe(true);
      const filed = (await one?.record(input('Filed'))) ?? '';
      const old: string[] = [];
      for await (const { _id } of other?.before('9999') ?? []) {
        old.push(_id);
      }
      expect(old).toEqual([filed]);
      expect(await one?.remove(filed)).toBe(true);
      expect(await one?.remove(filed)).toBe(false);
      expect(await other?.list({ limit: 10 })).toMatchObject({ items: [] });
    });
  });
}
