import type { RunEventInput } from '../contracts/run-event';
import type { TurnCursor, WorkspaceCheckpoint } from '../contracts/workspace-checkpoint';
import type { Log } from '../platform/log/log';
import { pathInWorktree } from '../providers/git/checkpoint';
import { fileObject } from '../providers/git/file-object';
import type { CapturedCheckpoint, Git } from '../providers/git/git';
import { attribute, checkpointIdOf, type Reported } from '../runs/checkpoints/attribution';
import { editOf } from '../runs/events/file-paths';
import type { AttemptRecord } from '../stores/attempt-store';
import type { CheckpointStore } from '../stores/checkpoint-store';
import type { RunEventStore } from '../stores/run-event-store';
import { agentWords } from './agent-words';
import { sourceOf } from './source';

export interface CheckpointDependencies {
  checkpoints: CheckpointStore;
  events: Pick<RunEventStore, 'append'>;
  git: Pick<Git, 'captureCheckpoint'>;
  /** The least time between two checkpoints of one run, in milliseconds. */
  checkpointEveryMs: number;
  /** How long an agent's word about a file that it has changed may be on its way, in milliseconds. */
  lateWordMs: number;
  log: Log;
  now(): Date;
}

/** The most checkpoints of one run. */
const mostCheckpoints = 1_000;

/** The most paths a checkpoint lists. */
const listedPaths = 1_000;

/** After these the worktree may be another one. */
const mayChange = new Set<RunEventInput['kind']>([
  'file.changed',
  'tool.completed',
  'command.completed',
  'artifact.created',
  'conversation.interrupted',
]);

/**
 * Keeps checkpoints of the worktree of one run: after its agent changed something or began another turn, but not more
 * often than is set, and at its end. A checkpoint that cannot be made is made with the next one; the run goes on.
 */
export function checkpointRun(deps: CheckpointDependencies, record: AttemptRecord, worktreePath: string) {
  const { baseline } = record;
  const state = { dirty: false, sequence: 0, at: 0, turn: null as TurnCursor | null };
  const sinceLastMs = () => deps.now().getTime() - state.at;
  const words = agentWords();
  /** Whether the agent's word can come while a checkpoint is made. */
  let listening = true;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  return {
    /**
     * Takes what the agent says, before anybody else hears of it: whoever changes a file after reading that the agent
     * did is seen to have done so. In order, one call at a time.
     */
    async heard(events: readonly RunEventInput[]): Promise<void> {
      if (!baseline) return;
      for (const event of events) await take(event);
    },

    /** Takes the sequences that the events were given, once they are stored. */
    appended(sequences: readonly number[]): void {
      if (!baseline || sequences.length === 0) return;
      state.sequence = Math.max(state.sequence, ...sequences);
      if (state.dirty && sinceLastMs() >= deps.checkpointEveryMs) void inOrder();
      // An agent that says nothing of files may change them nevertheless.
      else timer ??= setTimeout(() => void look(), deps.checkpointEveryMs);
    },

    /** Makes one now: what is said to the agent may change what it is allowed. */
    async now(): Promise<void> {
      await look();
    },

    /** Makes the last checkpoint; resolves when nothing more is done. */
    async ended(): Promise<void> {
      // An agent that says nothing of files may have changed them after it was told something.
      state.dirty ||= state.at > 0;
      await lastOfTurn();
    },
  };

  async function take(event: RunEventInput): Promise<void> {
    const turn = cursorOf(event);
    if (turn && turn.turnId !== state.turn?.turnId) {
      // What the turn before has left is kept as that turn's.
      if (state.turn && state.dirty && sinceLastMs() >= deps.checkpointEveryMs / 10) await lastOfTurn();
      state.turn = turn;
    }
    if (!mayChange.has(event.kind)) return;
    state.dirty = true;
    const edit = editOf(event);
    const path = edit?.worked ? pathInWorktree(worktreePath, edit.path) : undefined;
    if (path !== undefined) words.hear(path, await fileObject(worktreePath, path, baseline?.headSha ?? ''));
  }

  /** Makes a checkpoint before anything more is heard, so that no word about it can come. */
  async function lastOfTurn(): Promise<void> {
    listening = false;
    words.complete();
    await inOrder();
    listening = true;
  }

  function look(): Promise<void> {
    state.dirty = true;
    return inOrder();
  }

  function inOrder(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    working = working.then(capture);
    return working;
  }

  async function capture(): Promise<void> {
    if (!state.dirty || !baseline) return;
    state.dirty = false;
    state.at = deps.now().getTime();
    const said = words.take();
    const { turn, sequence } = state;
    try {
      const latest = await deps.checkpoints.latest(record._id);
      if ((latest?.number ?? 0) >= mostCheckpoints) return;
      const since = latest ?? { tree: `${baseline.snapshot.commit}^{tree}`, headSha: baseline.headSha };
      const captured = await deps.git.captureCheckpoint({
        worktreePath,
        attemptId: record._id,
        number: (latest?.number ?? 0) + 1,
        since,
        gitDir: baseline.gitDir,
        identity: baseline.identity,
      });
      if (captured) await keep({ ...captured, turn, sequence }, latest, said);
    } catch (error) {
      state.dirty = true;
      words.giveBack(said);
      deps.log.warn({ err: error, attemptId: record._id }, 'no checkpoint of a worktree could be made');
    }
  }

  async function keep(
    { changes, ...kept }: CapturedCheckpoint & { turn: TurnCursor | null; sequence: number },
    parent: WorkspaceCheckpoint | undefined,
    said: Reported,
  ): Promise<void> {
    const number = (parent?.number ?? 0) + 1;
    const changed = changes.map(({ path, status, after }) => ({ path, status, object: after?.object ?? null }));
    const untold = attribute(changed, said).filter(({ attribution }) => attribution !== 'agent');
    if (listening)
      await words.about(
        untold.map(({ path }) => path),
        deps.lateWordMs,
      );
    const attributed = attribute(changed, said, words.sinceTaken());
    const checkpoint: WorkspaceCheckpoint = {
      schemaVersion: 'workspace-checkpoint/v1',
      id: checkpointIdOf(record._id, number),
      taskId: record.taskId,
      attemptId: record._id,
      number,
      parentId: parent?.id ?? null,
      ...kept,
      changes: attributed.slice(0, listedPaths),
      truncated: attributed.length > listedPaths,
      createdAt: deps.now().toISOString(),
    };
    // Somebody else may have made this one meanwhile: then the next one is told from theirs.
    if (!(await deps.checkpoints.add(checkpoint))) state.dirty = true;
    else await deps.events.append(sourceOf(record), [checkpointEvent(checkpoint, attributed.length)]);
  }
}

const cursorOf = ({ sessionId, turnId }: RunEventInput): TurnCursor | undefined =>
  sessionId === undefined || turnId === undefined ? undefined : { sessionId, turnId };

/** What the log of the run says about a checkpoint. */
export const checkpointEvent = (checkpoint: WorkspaceCheckpoint, changedPaths: number): RunEventInput => ({
  kind: 'workspace.checkpoint.created',
  ...(checkpoint.turn ?? {}),
  payload: {
    checkpointId: checkpoint.id,
    number: checkpoint.number,
    parentId: checkpoint.parentId,
    tree: checkpoint.tree,
    headSha: checkpoint.headSha,
    changedPaths,
    unattributed: checkpoint.changes.filter(({ attribution }) => attribution !== 'agent').length,
  },
  dedupeKey: `checkpoint/${checkpoint.number}`,
});
