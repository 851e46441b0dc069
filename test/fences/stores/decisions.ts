import type { Ceremony } from '../../../contracts/governance/ceremony';
import { phaseDimension } from '../../../contracts/runs/phase';
import type { WatchdogAction, WatchdogFinding, WatchdogOverride } from '../../../contracts/runs/watchdog';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { TerminalClaim } from '../../../domain/completion';
import { createCeremonyStore } from '../../../stores/governance/ceremony-store';
import { continuationsIn, createTreeStore, type TreeStore } from '../../../stores/runs/admission/tree-store';
import { createClaimStore } from '../../../stores/runs/claim-store';
import { createRunCommandStore, type RunCommandState, type RunCommandStore } from '../../../stores/runs/command-store';
import {
  createPhaseStore,
  type PhaseChange,
  type PhaseRecord,
  type PhaseStore,
  presentPhase,
} from '../../../stores/runs/phase-store';
import { createWatchdogStore } from '../../../stores/runs/watchdog-store';
import { aClaim, at, taskId } from '../../support/factories/records';
import { type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const attemptId = 'attempt_fence000001';
const dimensions = Object.fromEntries(
  phaseDimension.options.map((name) => [name, { scopes: ['*'], approval: [], enforcement: 'enforced', limitedBy: [] }]),
);
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

/** What people and programs decide about a run is decided once, and on what they saw. */
export function decisionFences(open: OpenStore): void {
  let db: Interleaving;
  beforeEach(async () => {
    db = interleaving(await open());
  });
  afterEach(async () => {
    expect(db.isThrough).toBe(true);
    await db.close();
  });

  describe('commands', () => {
    let store: RunCommandStore;
    beforeEach(async () => {
      store = await createRunCommandStore(db);
      await ask('other');
    });
    afterEach(async () => expect(await store.get(attemptId, 'other')).toMatchObject({ state: 'requested' }));
    const ask = (commandId: string, message = 'first') =>
      store.request({
        commandId,
        attemptId,
        taskId,
        type: 'message',
        message,
        actor: 'ada',
        sentBy: 'ada',
        createdAt: at(0),
      });

    it('are requested once', async () => {
      await ask('c');
      expect(await ask('c', 'second')).toMatchObject({ message: 'first' });
    });

    it('are delivered by one, and their outcome is final', async () => {
      await ask('c');
      const taken = await Promise.all([1, 2, 3].map(() => store.deliver(attemptId, 'c')));
      expect(taken.filter((command) => command !== undefined)).toHaveLength(1);
      expect(await store.settle(attemptId, 'c', { settledAt: at(1) })).toMatchObject({ state: 'delivered' });
      expect(await store.settle(attemptId, 'c', { settledAt: at(2), reason: 'late' })).toBeUndefined();
      expect(await store.deliver(attemptId, 'c')).toBeUndefined();
      expect(await store.get(attemptId, 'c')).toMatchObject({ state: 'delivered', settledAt: at(1) });
    });

    it('are not delivered once they were given up', async () => {
      await ask('c');
      const undelivered: RunCommandState = 'undelivered';
      expect(await store.settle(attemptId, 'c', { settledAt: at(1), reason: 'over' })).toMatchObject({
        state: undelivered,
      });
      expect(await store.deliver(attemptId, 'c')).toBeUndefined();
    });
  });

  describe('phases', () => {
    let store: PhaseStore;
    const launched = (letter = 'a') => ({
      _id: attemptId,
      taskId,
      launchPhase: 'implement' as const,
      evidence: { phase: 'implement', digest: digest(letter), dimensions } as unknown as PhaseRecord['evidence'],
      manifestDigest: digest('m'),
      sources: [] as unknown as PhaseRecord['sources'],
    });
    const change = (read: PhaseRecord, letter: string): PhaseChange => ({
      evidence: { ...read.evidence, digest: digest(letter) },
      emergency: null,
      entry: { sequence: read.sequence + 1, operationId: letter, at: at(1) } as PhaseChange['entry'],
    });
    beforeEach(async () => {
      store = await createPhaseStore(db);
      await store.begin({ ...launched(), _id: 'other' });
    });
    afterEach(async () => expect(await store.get('other')).toMatchObject({ sequence: 0 }));

    it('begin again until they were changed, and never after', async () => {
      await store.begin(launched('a'));
      await store.begin(launched('b'));
      const read = (await store.get(attemptId))!;
      expect(read.evidence.digest).toBe(digest('b'));
      await store.change(read, change(read, 'c'));
      await store.begin(launched('d'));
      expect(await store.get(attemptId)).toMatchObject({ sequence: 1, evidence: { digest: digest('c') } });
    });

    it('do not begin again over a change that was made at that moment', async () => {
      await store.begin(launched('a'));
      db.before('run-phases', 'findOneAndUpdate', async () => {
        const read = (await store.get(attemptId))!;
        expect(await store.change(read, change(read, 'c'))).toBeDefined();
      });
      await store.begin(launched('b'));
      expect(await store.get(attemptId)).toMatchObject({ sequence: 1, evidence: { digest: digest('c') } });
    });

    it.each([
      ['another sequence', { sequence: 1 }],
      ['another evidence', { evidence: { ...launched('x').evidence } }],
      ['another manifest', { manifestDigest: digest('n') }],
    ])('are not changed from %s', async (_, fields) => {
      await store.begin(launched());
      const read = (await store.get(attemptId))!;
      const stale = { ...read, ...fields };
      expect(await store.change(stale, change(read, 'c'))).toBeUndefined();
      expect(await store.get(attemptId)).toEqual(read);
    });

    describe('in an emergency', () => {
      const prior = { digest: digest('a'), dimensions, phase: 'implement' } as unknown as PhaseRecord['evidence'];
      const emergency = { operationId: 'op', expiresAt: at(100), prior } as unknown as PhaseRecord['emergency'];
      async function widened(): Promise<PhaseRecord> {
        await store.begin(launched());
        const read = (await store.get(attemptId))!;
        return (await store.change(read, { ...change(read, 'e'), emergency }))!;
      }
      const sequence = async () => (await store.get(attemptId))?.sequence;

      it('are presented with its name and its end, and without it when it is over', async () => {
        const inEmergency = await widened();
        expect(presentPhase(inEmergency, { limit: 9 }).body).toMatchObject({
          emergency: { operationId: 'op', expiresAt: at(100) },
        });
        const over = await store.endEmergency(attemptId, { now: at(100) });
        expect(presentPhase(over!, { limit: 9 }).body).toMatchObject({ emergency: null });
      });

      it('are ended when its time is over, and not before', async () => {
        await widened();
        await store.endEmergency(attemptId, { now: at(99) });
        expect(await sequence()).toBe(1);
        expect(await store.endEmergency(attemptId, { now: at(100) })).toMatchObject({ sequence: 2, emergency: null });
      });

      it('are ended by its name, once, and not by another one', async () => {
        await widened();
        await store.endEmergency(attemptId, { operationId: 'other', now: at(999) });
        expect(await sequence()).toBe(1);
        await store.endEmergency(attemptId, { operationId: 'op', now: at(1) });
        await store.endEmergency(attemptId, { operationId: 'op', now: at(2) });
        expect(await sequence()).toBe(2);
        expect(await store.endEmergency('attempt_fence000009', { now: at(1) })).toBeUndefined();
      });

      it('are ended from the state at that moment, when they were changed at that moment', async () => {
        const read = await widened();
        db.before('run-phases', 'findOneAndUpdate', async () => {
          expect(await store.change(read, { ...change(read, 'f'), emergency })).toBeDefined();
        });
        await store.endEmergency(attemptId, { now: at(100) });
        expect(
          (await store.get(attemptId))?.history.map(({ kind, operationId }) =>
            kind === 'emergency-ended' ? kind : operationId,
          ),
        ).toEqual(['e', 'f', 'emergency-ended']);
      });
    });

    it('are changed by exactly one of those who read the same', async () => {
      await store.begin(launched());
      const read = (await store.get(attemptId))!;
      const changes = await Promise.all(['c', 'd'].map((letter) => store.change(read, change(read, letter))));
      expect(changes.filter((record) => record !== undefined)).toHaveLength(1);
      expect((await store.get(attemptId))?.history).toHaveLength(1);
    });
  });

  describe('execution trees', () => {
    let store: TreeStore;
    const root = sampleRequest('attempt_fence000001');
    const child = (n: number) =>
      sampleRequest(`attempt_fence00001${n}`, {
        rootObjectiveId: root.rootObjectiveId,
        parentNodeId: root.nodeId,
        edge: 'child-agent',
      });
    const note = (action: 'pause' | 'resume' | 'cancel') => ({
      action,
      actor: 'a',
      reason: 'r',
      at: at(1),
      keyHash: null,
    });
    const id = root.rootObjectiveId;
    beforeEach(async () => {
      store = await createTreeStore(db);
      await store.open(root);
      await store.open(sampleRequest('attempt_fence000002'));
    });
    afterEach(async () =>
      expect(await store.get('attempt_fence000002')).toMatchObject({ state: 'open', descendants: 0, revision: 1 }),
    );

    it('are opened once', async () => {
      await store.pause(id, [], note('pause'));
      expect(await store.open(root)).toMatchObject({ state: 'paused', revision: 2 });
    });

    it('count a node once, and as many as they may have', async () => {
      await Promise.all([store.register(child(1), 2), store.register(child(1), 2), store.register(child(2), 2)]);
      expect(await store.register(child(3), 2)).toBeUndefined();
      expect(await store.register(child(2), 2)).toBeDefined();
      expect((await store.get(id))?.descendants).toBe(2);
      await store.unregister(id, child(1).nodeId);
      expect(await store.unregister(id, child(1).nodeId)).toBeUndefined();
      expect((await store.get(id))?.descendants).toBe(1);
    });

    it('take nothing while they are paused or after they were cancelled', async () => {
      await store.register(child(1), 9);
      await store.pause(id, [], note('pause'));
      expect(await store.register(child(1), 9)).toBeUndefined();
      expect(await store.register(child(2), 9)).toBeUndefined();
      expect(await store.pause(id, [], note('pause'))).toBeUndefined();
      expect(await store.resume(id, note('resume'))).toMatchObject({ state: 'open' });
      expect(await store.resume(id, note('resume'))).toBeUndefined();
      expect(await store.drained(id, { at: at(1), queued: 0, interrupted: 0 })).toBeUndefined();
      await store.cancel(id, note('cancel'));
      for (const again of [store.resume(id, note('resume')), store.cancel(id, note('cancel'))]) {
        expect(await again).toBeUndefined();
      }
      expect(await store.register(child(3), 9)).toBeUndefined();
      expect(await store.get(id)).toMatchObject({ state: 'cancelled', descendants: 1 });
    });

    it('keep their root when its launch is refused', async () => {
      expect(await store.unregister(id, root.nodeId)).toBeUndefined();
      expect(await store.get(id)).toMatchObject({ descendants: 0, nodes: { [root.nodeId]: { parent: null } } });
    });

    it('are closed to launches while they are paused', async () => {
      const trees = [id, 'attempt_fence000002', 'attempt_fence000009'];
      expect(await store.closed(trees)).toEqual(new Set());
      await store.pause(id, [], note('pause'));
      expect(await store.closed(trees)).toEqual(new Set([id]));
    });

    it('count how often watchers have continued runs, besides the launch that is being decided', async () => {
      expect(continuationsIn(undefined)).toBe(0);
      await store.register(child(1), 9);
      for (const n of [2, 3]) {
        await store.register({ ...child(n), source: 'watcher' }, 9);
      }
      const tree = await store.get(id);
      expect([continuationsIn(tree), continuationsIn(tree, child(3).nodeId)]).toEqual([2, 1]);
    });

    it('are drained once', async () => {
      await store.cancel(id, note('cancel'));
      expect(await store.drained(id, { at: at(1), queued: 1, interrupted: 0 })).toBeDefined();
      expect(await store.drained(id, { at: at(2), queued: 9, interrupted: 0 })).toBeUndefined();
      expect((await store.get(id))?.drained?.queued).toBe(1);
    });

    it('are notified of a change of their state after it is stored, and of none that did not come about', async () => {
      const received: string[] = [];
      const reported = await createTreeStore(db, async (tree) => received.push(tree.state));
      await reported.resume(id, note('resume'));
      await reported.pause(id, [], note('pause'));
      await reported.pause(id, [], note('pause'));
      expect(received).toEqual(['paused']);
    });
  });

  it('a ceremony is held once', async () => {
    const store = await createCeremonyStore(db);
    const ceremony = (id: string) => ({ id, status: 'pending', createdAt: at(0) }) as unknown as Ceremony;
    await store.open(ceremony('c'));
    await store.open(ceremony('other'));
    const held = (completedBy: string) =>
      store.complete('c', { completedBy, completedAt: at(1), artifacts: [], actionItems: [] });
    expect(await held('ada')).toMatchObject({ status: 'completed' });
    expect(await held('eve')).toBeUndefined();
    expect(await store.open(ceremony('c'))).toMatchObject({ status: 'completed', completedBy: 'ada' });
    expect(await store.get('other')).toMatchObject({ id: 'other', status: 'pending' });
    expect(await store.get('none')).toBeUndefined();
  });

  it('a claim from outside is kept as it came first', async () => {
    const store = await createClaimStore(db);
    const put = (claim: TerminalClaim) => store.put(attemptId, 'digest', claim);
    await put(aClaim('first'));
    await put(aClaim('second'));
    expect(await store.get(attemptId, 'digest')).toMatchObject({ summary: 'first' });
    expect(await store.get('attempt_fence000002', 'digest')).toBeUndefined();
  });

  it('a finding of the watchdog is acted on once, and decided once', async () => {
    const store = await createWatchdogStore(db);
    const finding = { id: 'f', attemptId, createdAt: at(0), evidence: { toSequence: 1 } } as unknown as WatchdogFinding;
    const action = (id: string) =>
      ({ id, findingId: 'f', attemptId, state: 'requested', createdAt: at(0) }) as unknown as WatchdogAction;
    const override = (id: string) =>
      ({ id, findingId: 'f', attemptId, state: 'requested', createdAt: at(0) }) as unknown as WatchdogOverride;
    expect(await store.record(finding, action('a'))).toBe(true);
    expect(await store.record(finding, action('a'))).toBe(false);
    await store.record(finding, action('b'));
    await store.settle('a', { state: 'completed' }, at(1));
    await store.settle('a', { state: 'completed', reason: 'late' }, at(2));
    const [a, b] = await store.actionsOf(finding);
    expect([a, b]).toMatchObject([{ state: 'completed', updatedAt: at(1) }, { state: 'requested' }]);
    expect(a).not.toHaveProperty('reason');
    expect(await store.override(override('first'))).toMatchObject({ id: 'first' });
    expect(await store.override(override('second'))).toMatchObject({ id: 'first' });
    await store.completeOverride('f', at(3));
    expect(await store.completeOverride('f', at(4))).toMatchObject({ state: 'completed', updatedAt: at(3) });
    expect(await store.finding('f')).toEqual(finding);
    expect(await store.overrideOf('f')).not.toHaveProperty('_id');
    expect([await store.finding('none'), await store.overrideOf('none')]).toEqual([undefined, undefined]);
  });
}
