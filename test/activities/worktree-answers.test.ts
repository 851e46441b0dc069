import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createBeginWorktreeActivities } from '../../activities/worktree/begin/begin';
import type { Beginning } from '../../activities/worktree/begin/beginning';
import { createNewWorktreeActivities } from '../../activities/worktree/create';
import type { WorktreeHostDependencies } from '../../activities/worktree/dependencies';
import { createWorktreeFences } from '../../activities/worktree/fences';
import { createWorktreeStepActivities } from '../../activities/worktree/steps';
import type { Repository } from '../../contracts/settings/repository';
import { startProofMs } from '../../platform/crypto/message-proof';
import { createLog } from '../../platform/log/log';
import { createProofVerifier } from '../../platform/temporal/proof-verifier';
import { eventually } from '../../platform/testing/eventually';
import type { Fence } from '../../providers/git/fence';
import type { Git } from '../../providers/git/git';
import { createHostFindings } from '../../providers/git/host-findings';
import type { Database } from '../../stores/port/collection';
import { createWorktreeStore, type WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../stores/sqlite/database';
import { openMessageProofs } from '../../stores/system/message-key-store';
import { worktreePlanMessage } from '../../workflows/message-proofs';
import { aWorktree, commit, type GitFixture, put, sh } from '../providers/git/git-fixture';
import { someProofs } from '../support/stack/proofs';

const log = createLog({ name: 'test', level: 'silent' });
const taskId = 'task_20260101_answer';
/** The context of an activity's attempt. */
const context = {
  info: { attempt: 1, heartbeatTimeoutMs: 60_000, scheduledTimestampMs: Date.now() },
  heartbeat: () => undefined,
  cancellationSignal: new AbortController().signal,
} as unknown as Context;
const asActivity = <T>(work: () => Promise<T>): Promise<T> => asyncLocalStorage.run(context, work);

let at: GitFixture;
let database: Database;
let worktrees: WorktreeStore;
beforeEach(async () => {
  at = await aWorktree();
  database = await openSqlite({ file: join(at.directory.path, 'store.sqlite'), log });
  worktrees = await createWorktreeStore(database);
});
afterEach(async () => {
  await database.close();
  await at.directory.remove();
});

/** The activities of a host whose git may be another one in parts. */
function onHost(git: Partial<Git> = {}, repository?: Repository, more: Partial<WorktreeHostDependencies> = {}) {
  const deps: WorktreeHostDependencies = {
    worktrees,
    repositories: { find: () => Promise.resolve(repository) },
    activeRuns: { holder: () => Promise.resolve(undefined) },
    git: { ...at.git, ...git, under: (fence) => ({ ...at.git.under(fence), ...git }) },
    fences: createWorktreeFences({
      worktrees,
      dir: join(at.directory.path, 'fences'),
      self: { pid: 1, startTime: '1', bootId: 'boot' },
    }),
    hostId: 'host',
    hostFindings: () => Promise.resolve([]),
    worktreeDir: join(at.directory.path, 'made'),
    integrationDir: join(at.directory.path, 'integrations'),
    proofs: { require: () => Promise.resolve() },
    resolutions: { get: () => Promise.resolve(undefined) },
    audit: { record: () => Promise.reject(new Error('No operator has cancelled anything.')) },
    log,
    now: () => new Date(),
    ...more,
  };
  const creation = createNewWorktreeActivities(deps);
  const steps = createWorktreeStepActivities(deps);
  const beginning = createBeginWorktreeActivities(deps);
  return {
    merge: (operationId: string, request: { anyBranch?: boolean } = {}) =>
      asActivity(() =>
        beginning.beginWorktree({ ...aCreation(operationId), request: { kind: 'merge', ...request }, target: null }),
      ),
    create: (operationId: string) => asActivity(() => creation.createWorktree(aCreation(operationId))),
    createFrom: (wanted: Beginning) => asActivity(() => creation.createWorktree(wanted)),
    beginFrom: (wanted: Beginning) => asActivity(() => beginning.beginWorktree(wanted)),
    giveUp: (operationId: string) => asActivity(() => steps.giveUp({ taskId, operationId })),
    rebase: (operationId: string) => asActivity(() => steps.rebaseWorktree({ taskId, operationId })),
  };
}

const aCreation = (operationId: string): Beginning => ({
  taskId,
  operationId,
  actor: 'anna',
  request: { kind: 'create' },
  target: {
    repository: { name: 'sample', path: at.repository, defaultBranch: 'main' },
    branch: 'board/made',
    baseBranch: 'main',
  },
});

describe('activities of a worktree', () => {
  test('a creation that failed reports it again when its answer was lost, and can be asked for once more', async () => {
    const { create } = onHost();
    const path = join(at.directory.path, 'made', taskId);
    await put(path, { 'in-the-way.txt': 'x\n' });
    const first = await create('op_1');
    expect(first).toMatchObject({ status: 'refused', code: 'WORKTREE_NOT_CREATED', details: { reason: 'conflict' } });
    const { message } = first as { message: string };
    expect(await create('op_1')).toMatchObject({ status: 'refused', code: 'WORKTREE_NOT_CREATED', message });
    await rm(path, { recursive: true });
    expect(await create('op_1')).toMatchObject({ status: 'refused' });
    expect(await create('op_2')).toMatchObject({ state: 'ready' });
    expect(await create('op_2')).toMatchObject({ state: 'ready' });
  });

  test('a creation on a host that cannot make worktrees is refused with what is missing', async () => {
    await put(at.directory.path, { data: 'a file' });
    const worktreeDir = join(at.directory.path, 'data', 'worktrees');
    const { create } = onHost({}, undefined, { worktreeDir, hostFindings: createHostFindings(worktreeDir) });
    expect(await create('op_1')).toMatchObject({
      status: 'refused',
      code: 'HOST_NOT_READY',
      details: { hostId: 'host', findings: [{ code: 'worktree-root-not-writable', path: dirname(worktreeDir) }] },
    });
    expect(await onHost().create('op_2')).toMatchObject({ state: 'ready' });
  });

  test('a new worktree is inspected also when its creation has ended by then', async () => {
    const afterTheEnd =
      (git: Git): Git['inspectNew'] =>
      async (...given) => {
        await eventually(async () => expect((await worktrees.get(taskId))?.operation).toBeNull());
        return git.inspectNew(...given);
      };
    const slow = (git: Git): Git => ({ ...git, inspectNew: afterTheEnd(git) });
    const git = { ...slow(at.git), under: (fence: Fence) => slow(at.git.under(fence)) };
    const { create } = onHost({}, undefined, { git });
    expect(await create('op_1')).toMatchObject({ state: 'ready', inspection: expect.anything() });
  });

  test('a merge into a branch that is not one of the repository is refused where it is made, too', async () => {
    await onHost().create('op_1');
    const release: Repository = { name: 'sample', path: at.repository, defaultBranch: 'release' };
    const refused = { status: 'refused', code: 'WORKTREE_MERGE_BRANCH', details: { branch: 'main' } };
    expect(await onHost({}, release).merge('op_2')).toMatchObject(refused);
    expect(await onHost().merge('op_3')).toMatchObject(refused);
    expect((await worktrees.get(taskId))?.state).toBe('ready');
    const allowed = { ...release, mergeBranches: ['main'] };
    expect(await onHost({}, allowed).merge('op_nothing')).toMatchObject({ code: 'WORKTREE_NOTHING_TO_MERGE' });
    await commit(join(at.directory.path, 'made', taskId), 'Work');
    expect(await onHost({}, allowed).merge('op_4')).toMatchObject({ state: 'merging' });
  });

  test('a rebase that met a conflict reports it again when its answer was lost', async () => {
    const { create, rebase } = onHost();
    await create('op_1');
    const { path } = (await worktrees.get(taskId))!;
    await put(path, { 'src/a.txt': 'ours\n' });
    await commit(path, 'Ours');
    await put(at.repository, { 'src/a.txt': 'theirs\n' });
    const ontoSha = await commit(at.repository, 'Theirs');
    const ready = (await worktrees.get(taskId))!;
    const operation = {
      id: 'op_2',
      kind: 'rebase' as const,
      actor: 'anna',
      startedAt: new Date().toISOString(),
      ontoSha,
    };
    await worktrees.change(ready, { state: 'rebasing', operation }, new Date().toISOString());

    const conflict = { status: 'refused', code: 'WORKTREE_REBASE_CONFLICT', details: { reason: 'merge-conflict' } };
    expect(await rebase('op_2')).toMatchObject(conflict);
    expect(await rebase('op_2')).toMatchObject(conflict);
    expect((await worktrees.get(taskId))?.history.at(-1)).toMatchObject({
      result: 'failed',
      refusal: { code: 'WORKTREE_REBASE_CONFLICT' },
    });
    expect(await sh(path, 'log', '-1', '--format=%s')).toBe('Ours\n');
  });

  test('a try that the server has given up is not joined at its work by the next one', async () => {
    let working = 0;
    let most = 0;
    const { create } = onHost({
      async ensureWorktree(request) {
        most = Math.max(most, (working += 1));
        try {
          return await at.git.ensureWorktree(request);
        } finally {
          working -= 1;
        }
      },
    });
    const answers = await Promise.all([create('op_1'), create('op_1'), create('op_1')]);
    expect(answers).toEqual([1, 2, 3].map(() => expect.objectContaining({ state: 'ready' })));
    expect(most).toBe(1);
  });

  test('a host begins nothing that was not planned exactly so, whatever schedules it', async () => {
    const proofs = await openMessageProofs(database);
    const problems: string[] = [];
    const verifier = createProofVerifier({ proofs, onRefused: async (_message, problem) => problems.push(problem) });
    const { beginFrom, createFrom } = onHost({}, undefined, { proofs: verifier });
    const planned = aCreation('op_1');
    const signed: Beginning = { ...planned, proof: proofs.sign(worktreePlanMessage(planned), startProofMs) };
    const evil = { ...planned.target!, repository: { ...planned.target!.repository, path: '/' } };
    const forgeries: [string, Beginning][] = [
      ['missing', planned],
      ['forged', { ...planned, proof: someProofs().sign(worktreePlanMessage(planned), startProofMs) }],
      ['wrong-body', { ...signed, target: evil }],
      ['wrong-body', { ...signed, operationId: 'op_2' }],
      ['wrong-body', { ...signed, request: { kind: 'cleanup', force: true, reason: 'because' } }],
      ['wrong-actor', { ...signed, actor: 'admin' }],
      ['wrong-subject', { ...signed, taskId: 'task_20260101_other' }],
    ];
    for (const [problem, forged] of forgeries) {
      for (const begin of [beginFrom, createFrom]) {
        await expect(begin(forged)).rejects.toMatchObject({ type: 'MESSAGE_UNPROVEN', details: [{ problem }] });
      }
    }
    // Each of them is written down once.
    expect(problems).toEqual(['missing', 'forged', 'wrong-body', 'wrong-actor', 'wrong-subject']);
    expect(await worktrees.get(taskId)).toBeUndefined();
    expect(await createFrom(signed)).toMatchObject({ state: 'ready' });
  });

  test('what an operator gives up is in the audit log', async () => {
    const audited: unknown[] = [];
    const { create, beginFrom, giveUp } = onHost({}, undefined, {
      audit: { record: async (entry: object) => void audited.push(entry) } as never,
    });
    await create('op_1');
    const { path } = (await worktrees.get(taskId))!;
    await put(at.repository, { 'base.txt': 'moved on\n' });
    await commit(at.repository, 'move on');
    await put(path, { 'own.txt': 'own\n' });
    await commit(path, 'own');
    const begun = await beginFrom({
      taskId,
      operationId: 'op_2',
      actor: 'anna',
      request: { kind: 'rebase' },
      target: null,
    });
    expect(begun).toEqual({ state: 'rebasing' });
    expect(await giveUp('op_2')).toMatchObject({ status: 'refused' });
    expect(audited).toMatchObject([{ action: 'worktree.give-up', actor: 'operator:temporal', resource: taskId }]);
  });
});
