import { createTalkActivities, type TalkDependencies } from '../../../services/workflow-runs/runs/talks/activities';
import {
  createTalkStore,
  type Talk,
  type TalkStore,
  type TalkTurn,
} from '../../../services/workflow-runs/runs/talks/store';
import type { Collection, Stored } from '../../../stores/port/collection';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const table = 'workflow-run-talks';
const stage = { runId: 'r', stageId: 's' };

const aTurn = (text: string, results: TalkTurn['results'] = []): TalkTurn =>
  ({ answer: { text, calls: [] }, text, thinking: [], toolCalls: [], results }) as unknown as TalkTurn;
const aTalk = (...turns: TalkTurn[]): Talk => ({ prompt: 'Do it.', turns });

/** What a model and its tools exchange: a try that comes late replaces nothing of the one that went on. */
export function talkFences(open: OpenStore): void {
  describe('talks of models with tools', () => {
    let db: Interleaving;
    let talks: TalkStore;
    beforeEach(async () => {
      db = interleaving(await open());
      talks = await createTalkStore(db);
    });
    afterEach(async () => {
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    const replace = async (talk: Talk): Promise<boolean> =>
      talks.replace({ ...stage, at: new Date(), seen: await talks.get('r', 's') }, talk);
    const textsOf = async () => (await talks.get('r', 's'))?.talk.turns.map(({ text }) => text);

    it('begin once: the first answer of the first turn stands', async () => {
      const at = new Date();
      const tries = ['one', 'other'].map((text) =>
        talks.replace({ ...stage, at, seen: undefined }, aTalk(aTurn(text))),
      );
      const stored = await Promise.all(tries);
      expect(stored.filter(Boolean)).toHaveLength(1);
      expect(await textsOf()).toEqual([stored[0] ? 'one' : 'other']);
    });

    it('keep turns that came while a late try had its own of an earlier turn', async () => {
      await replace(aTalk(aTurn('first')));
      const seen = await talks.get('r', 's');
      await replace(aTalk(aTurn('first'), aTurn('second')));
      await replace(aTalk(aTurn('first'), aTurn('second'), aTurn('third')));
      expect(await talks.replace({ ...stage, at: new Date(), seen }, aTalk(aTurn('first'), aTurn('late')))).toBe(false);
      expect(await textsOf()).toEqual(['first', 'second', 'third']);
    });

    it('keep turns that came while a late result of a call was stored', async () => {
      await replace(aTalk(aTurn('first')));
      const turns = { put: async () => {}, get: async () => [] };
      const activities = createTalkActivities({
        talks,
        turns,
        now: () => new Date(),
      } as unknown as TalkDependencies);
      db.after(table, 'get', async () => {
        const result = { callId: 'c', content: 'of the other try', isError: false };
        await replace(aTalk(aTurn('first', [result]), aTurn('second')));
      });
      const late = { ...stage, turn: 1, callId: 'c', content: 'late', isError: false };
      await expect(activities.recordToolResult(late)).rejects.toThrow('Another try has continued');
      // Temporal repeats it, and the first result stands.
      await activities.recordToolResult(late);
      const stored = await talks.get('r', 's');
      expect(stored?.talk.turns.map(({ text, results }) => [text, results.map(({ content }) => content)])).toEqual([
        ['first', ['of the other try']],
        ['second', []],
      ]);
    });

    it('of an earlier release, which has no revision, are continued', async () => {
      const raw: Collection<Stored> = await db.collection({ name: table });
      const old = { _id: 'r/s', talk: JSON.stringify(aTalk(aTurn('first'))), updatedAt: new Date().toISOString() };
      await raw.insert(old);
      const seen = await talks.get('r', 's');
      expect(await replace(aTalk(aTurn('first'), aTurn('second')))).toBe(true);
      expect(await talks.replace({ ...stage, at: new Date(), seen }, aTalk(aTurn('late')))).toBe(false);
      expect(await textsOf()).toEqual(['first', 'second']);
    });
  });
}
