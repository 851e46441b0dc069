import type { RunRecord } from '../../../services/workflow-runs/runs/run';
import { createRunStore, type RunStore } from '../../../services/workflow-runs/runs/store';
import { createUsageTotals } from '../../../services/workflow-runs/usage/totals';
import type { Collection } from '../../../stores/port/collection';
import { at } from '../../support/factories/records';
import { Crash, crash, type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const table = 'workflow-runs';
const totalsTable = 'usage-totals';

const aRun = (id: string, fields: Partial<RunRecord> = {}): RunRecord =>
  ({
    _id: id,
    status: 'running',
    revision: 1,
    usage_counted: false,
    created_at: at(0),
    guidance: [],
    stages: [
      {
        id: 's',
        name: 'Stage',
        model: 'm',
        usage: { input_tokens: 3, output_tokens: 2, cost: 0.5 },
        duration_secs: 1,
      },
    ],
    ...fields,
  }) as unknown as RunRecord;

/** The workflow-run service: what a run has come to is written once, and counted once. */
export function workflowRunFences(open: OpenStore): void {
  describe('workflow runs', () => {
    let db: Interleaving;
    let runs: RunStore;
    let raw: Collection<RunRecord>;
    beforeEach(async () => {
      db = interleaving(await open());
      runs = await createRunStore(db);
      raw = await db.collection<RunRecord>({ name: table });
      await runs.insert(aRun('other', { usage_counted: true }));
    });
    afterEach(async () => {
      expect(await raw.get('other')).toEqual(aRun('other', { usage_counted: true }));
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    it('end once: the first end is final', async () => {
      await runs.insert(aRun('r'));
      const ends = await Promise.all(
        (['completed', 'failed', 'cancelled'] as RunRecord['status'][]).map((status) =>
          runs.change('r', ['queued', 'running'], { status }),
        ),
      );
      const [first] = ends.filter((run) => run !== undefined);
      expect(ends.filter((run) => run !== undefined)).toHaveLength(1);
      expect((await runs.get('r'))?.status).toBe(first?.status);
    });

    it('are not set back to a version that they have passed', async () => {
      await runs.insert(aRun('r', { revision: 3 }));
      const next = jest.fn((): Partial<RunRecord> => ({ status: 'failed' }));
      await runs.project('r', { version: 3, task: 3 }, next);
      await runs.project('r', { version: 2, task: 2 }, next);
      expect(next).not.toHaveBeenCalled();
      await runs.project('r', { version: 4, task: 4 }, next);
      expect(await runs.get('r')).toMatchObject({ revision: 4, status: 'failed' });
      await expect(runs.project('none', { version: 1, task: 1 }, next)).rejects.toThrow('No run');
    });

    it('take a version once that is reported twice at the same moment', async () => {
      await runs.insert(aRun('r'));
      const counted = (run: RunRecord) => ({ guidance: [...run.guidance, 'told'] as RunRecord['guidance'] });
      db.before(table, 'findOneAndUpdate', () => runs.project('r', { version: 2, task: 2 }, counted));
      await runs.project('r', { version: 2, task: 2 }, counted);
      expect((await runs.get('r'))?.guidance).toEqual(['told']);
    });

    it('keep what was reported later when an earlier version comes late', async () => {
      await runs.insert(aRun('r'));
      db.before(table, 'findOneAndUpdate', async () => {
        await runs.project('r', { version: 2, task: 2 }, () => ({ status: 'running' }));
        await runs.project('r', { version: 3, task: 3 }, () => ({ status: 'completed' }));
      });
      await runs.project('r', { version: 2, task: 2 }, () => ({ status: 'running' }));
      expect(await runs.get('r')).toMatchObject({ revision: 3, status: 'completed' });
    });

    describe('of a workflow task that is repeated, since its worker was killed before it was complete', () => {
      const report = (version: number, task: number, change: Partial<RunRecord>) =>
        runs.project('r', { version, task }, () => change);

      it('replace what the task has reported before', async () => {
        await runs.insert(aRun('r', { context: { before: 1 } }));
        await report(2, 10, { context: { before: 1, kept: 2 } });
        await report(3, 20, { context: { before: 1, kept: 2, lost: 3 }, waiting: true });
        await report(4, 20, { error: { message: 'lost' } });
        await runs.project('r', { version: 3, task: 25 }, ({ context }) => ({
          context: { ...context, found: 4 },
        }));
        const run = await runs.get('r');
        expect(run).toMatchObject({ revision: 3, context: { before: 1, kept: 2, found: 4 } });
        expect(run?.context).not.toHaveProperty('lost');
        expect(run).not.toHaveProperty('waiting');
        expect(run).not.toHaveProperty('error');
        await report(4, 25, { waiting: false });
        expect(await runs.get('r')).toMatchObject({ revision: 4, context: { before: 1, kept: 2, found: 4 } });
      });

      it('replace it however often it is repeated', async () => {
        await runs.insert(aRun('r'));
        for (const task of [10, 13, 13]) {
          await runs.project('r', { version: 2, task }, ({ guidance }) => ({
            guidance: [...guidance, { text: `of ${task}`, at: '' }],
          }));
        }
        expect((await runs.get('r'))?.guidance).toEqual([{ text: 'of 13', at: '' }]);
      });

      it('take nothing of the worker that had the task before', async () => {
        await runs.insert(aRun('r'));
        await report(2, 13, { waiting: true });
        expect(await report(2, 10, { waiting: false })).toBe(false);
        expect(await report(3, 10, { waiting: false })).toBe(false);
        expect(await runs.get('r')).toMatchObject({ revision: 2, waiting: true });
      });

      it('continue when only the lost task has ended them, and are counted once', async () => {
        await runs.insert(aRun('r'));
        await report(2, 10, { status: 'completed', usage_counted: false });
        await raw.updateMany({ _id: 'r' }, { $set: { usage_counted: true } });
        await report(2, 13, { status: 'paused' });
        await report(3, 20, { status: 'running' });
        await report(4, 20, { status: 'completed', usage_counted: false });
        expect(await runs.get('r')).toMatchObject({ revision: 4, status: 'completed', usage_counted: true });
      });

      it('stay ended when they were ended without their workflow', async () => {
        await runs.insert(aRun('r'));
        await report(2, 10, { waiting: true });
        await runs.change('r', ['running'], { status: 'cancelled' });
        await report(2, 13, { waiting: false });
        await report(3, 13, { status: 'completed' });
        expect(await runs.get('r')).toMatchObject({ status: 'cancelled', waiting: true });
      });
    });

    describe('totals of usage', () => {
      const used = { runs: 1, input_tokens: 3, output_tokens: 2, cost: 0.5, runtime_secs: 1 };
      const twice = { runs: 2, input_tokens: 6, output_tokens: 4, cost: 1, runtime_secs: 2 };
      const read = async () => (await (await createUsageTotals(db)).read()).totals;

      it('have a run once, however often they are read', async () => {
        await runs.insert(aRun('r'));
        expect(await read()).toEqual(used);
        expect(await read()).toEqual(used);
        await runs.insert(aRun('s'));
        expect(await read()).toEqual(twice);
      });

      it.each([
        ['the sums were written', totalsTable, 'findOneAndUpdate'],
        ['the runs were marked', table, 'updateMany'],
      ] as const)('have it once when a reader dies after %s', async (_, collection, method) => {
        await runs.insert(aRun('r'));
        db.after(collection, method, crash);
        await expect(read()).rejects.toThrow(Crash);
        await runs.insert(aRun('s'));
        expect(await read()).toEqual(twice);
      });

      it('finish the count of a reader that died before its last step', async () => {
        const sums = await db.collection<{ _id: string; marking: string[] }>({ name: totalsTable });
        const marking = async () => (await sums.get('all'))?.marking;
        await runs.insert(aRun('r'));
        db.after(table, 'updateMany', crash);
        await expect(read()).rejects.toThrow(Crash);
        expect(await marking()).toEqual(['r']);
        expect(await read()).toEqual(used);
        expect(await marking()).toEqual([]);
      });

      it('have it once when two count at the same moment', async () => {
        await runs.insert(aRun('r'));
        db.before(totalsTable, 'findOneAndUpdate', async () => {
          expect(await read()).toEqual(used);
        });
        expect(await read()).toEqual(used);
        expect((await raw.get('r'))?.usage_counted).toBe(true);
      });

      it('keep a run that another reader took in before the sums were written', async () => {
        await runs.insert(aRun('r'));
        db.before(totalsTable, 'findOneAndUpdate', async () => {
          await runs.insert(aRun('s'));
          expect(await read()).toEqual(twice);
        });
        expect(await read()).toEqual(twice);
      });

      it('keep the note of a run that another one is about to mark', async () => {
        await runs.insert(aRun('r'));
        // Between our marks and our last write another reader takes one more run in.
        db.after(table, 'updateMany', async () => {
          await runs.insert(aRun('s'));
          expect(await read()).toEqual(twice);
        });
        expect(await read()).toEqual(twice);
      });
    });
  });
}
