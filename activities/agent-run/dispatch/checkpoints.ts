import type { TurnCursor, WorkspaceCheckpoint } from '../../../contracts/runs/checkpoint';
import type { RunEventInput } from '../../../contracts/runs/event';
import { attribute, checkpointIdOf, type Reported } from '../../../domain/checkpoints/attribution';
import { editOf } from '../../../domain/events/file-paths';
import type { Log } from '../../../platform/log/log';
import { pathInWorktree } from '../../../providers/git/checkpoints/checkpoint';
import { fileObject } from '../../../providers/git/files/file-object';
import { listedFiles } from '../../../providers/git/files/listed-files';
import type { CapturedCheckpoint, Git } from '../../../providers/git/git';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { CheckpointStore } from '../../../stores/runs/workspaces/checkpoint-store';
import { sourceOf } from '../../shared/event-source';
import { createReportedEdits } from './reported-edits';

export interface CheckpointDependencies {
  checkpoints: CheckpointStore;
  events: Pick<RunEventStore, 'append'>;
  git: Pick<Git, 'captureCheckpoint'>;
  /** The least time between two checkpoints of one run, in milliseconds. */
  checkpointEveryMs: number;
  /** How long an agent's report of a file that it has changed may be on its way, in milliseconds. */
  lateWordMs: number;
  log: Log;
  now(): Date;
}

/** The most checkpoints of one run. */
const maxCheckpoints = 1_000;

/** After these the worktree may be another one. */
const mayChange = new Set<RunEventInput['kind']>([
  'file.changed',
  'tool.completed',
  'command.completed',
  'artifact.created',
  'conversation.interrupted',
]);

/**
 * Makes checkpoints of the worktree of one run: after its agent changed something or began another turn, but not more often
 * than is set, and at its end. A failed checkpoint is made with the next one; the run continues.
 */
export function checkpointRun(deps: CheckpointDependencies, record: AttemptRecord, worktreePath: string) {
  const { baseline } = record;
  const state = { dirty: false, sequence: 0, at: 0, turn: null as TurnCursor | null };
  const sinceLastMs = () => deps.now().getTime() - state.at;
  const edits = createReportedEdits();
  /** Whether the agent's reports can arrive while a checkpoint is made. */
  let listening = true;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  return {
    /**
     * Records the agent's events before they are published: a person who changes a file after reading that the agent did is
     * attributed correctly. In order, one call at a time.
     */
    async received(events: readonly RunEventInput[]): Promise<void> {
      if (!baseline) {
        return;
      }
      for (const event of events) {
        await take(event);
      }
    },

    /** Takes the sequences that the events were given, once they are stored. */
    appended(sequences: readonly number[]): void {
      if (!baseline || sequences.length === 0) {
        return;
      }
      state.sequence = Math.max(state.sequence, ...sequences);
      if (state.dirty && sinceLastMs() >= deps.checkpointEveryMs) {
        void inOrder();
      }
      // An agent that reports no files may change them nevertheless.
      else {
        timer ??= setTimeout(() => void look(), deps.checkpointEveryMs);
      }
    },

    /** Makes one now: a message to the agent may change its permissions. */
    async now(): Promise<void> {
      await look();
    },

    /** Makes the last checkpoint; resolves when nothing more is done. */
    async ended(): Promise<void> {
      // An agent that reports no files may have changed them after it received a message.
      state.dirty ||= state.at > 0;
      await lastOfTurn();
    },
  };

  async function take(event: RunEventInput): Promise<void> {
    const turn = cursorOf(event);
    if (turn && turn.turnId !== state.turn?.turnId) {
      // Changes of the turn before are stored as that turn's.
      if (state.turn && state.dirty && sinceLastMs() >= deps.checkpointEveryMs / 10) {
        await lastOfTurn();
      }
      state.turn = turn;
    }
    if (!mayChange.has(event.kind)) {
      return;
    }
    state.dirty = true;
    const edit = editOf(event);
    const path = edit?.worked ? pathInWorktree(worktreePath, edit.path) : undefined;
    if (path !== undefined) {
      edits.record(path, await fileObject(worktreePath, path, baseline?.headSha ?? ''));
    }
  }

  /** Makes a checkpoint before further events are read, so that no report about it can arrive. */
  async function lastOfTurn(): Promise<void> {
    listening = false;
    edits.complete();
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
    if (!state.dirty || !baseline) {
      return;
    }
    state.dirty = false;
    state.at = deps.now().getTime();
    const reported = edits.drain();
    const { turn, sequence } = state;
    try {
      const latest = await deps.checkpoints.latest(record._id);
      if ((latest?.number ?? 0) >= maxCheckpoints) {
        return;
      }
      const since = latest ?? { tree: `${baseline.snapshot.commit}^{tree}`, headSha: baseline.headSha };
      const captured = await deps.git.captureCheckpoint({
        worktreePath,
        attemptId: record._id,
        number: (latest?.number ?? 0) + 1,
        since,
        gitDir: baseline.gitDir,
        identity: baseline.identity,
      });
      if (captured) {
        await store({ ...captured, turn, sequence }, latest, reported);
      }
    } catch (error) {
      state.dirty = true;
      edits.restore(reported);
      deps.log.warn({ err: error, attemptId: record._id }, 'worktree checkpoint failed');
    }
  }

  async function store(
    { changes, ...captured }: CapturedCheckpoint & { turn: TurnCursor | null; sequence: number },
    parent: WorkspaceCheckpoint | undefined,
    reported: Reported,
  ): Promise<void> {
    const number = (parent?.number ?? 0) + 1;
    const changed = changes.map(({ path, status, after }) => ({ path, status, object: after?.object ?? null }));
    const unattributed = attribute(changed, reported).filter(({ attribution }) => attribution !== 'agent');
    if (listening) {
      await edits.awaitReports(
        unattributed.map(({ path }) => path),
        deps.lateWordMs,
      );
    }
    const attributed = attribute(changed, reported, edits.peek());
    const listed = listedFiles(attributed);
    const checkpoint: WorkspaceCheckpoint = {
      schemaVersion: 'workspace-checkpoint/v1',
      id: checkpointIdOf(record._id, number),
      taskId: record.taskId,
      attemptId: record._id,
      number,
      parentId: parent?.id ?? null,
      ...captured,
      changes: listed,
      truncated: listed.length < attributed.length,
      createdAt: deps.now().toISOString(),
    };
    // Another process may have made this one meanwhile: then the next one is compared with theirs.
    if (!(await deps.checkpoints.add(checkpoint))) {
      state.dirty = true;
    } else {
      await deps.events.append(sourceOf(record), [checkpointEvent(checkpoint, attributed.length)]);
    }
  }
}

const cursorOf = ({ sessionId, turnId }: RunEventInput): TurnCursor | undefined =>
  sessionId === undefined || turnId === undefined ? undefined : { sessionId, turnId };

/** The event of a checkpoint in the log of the run. */
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
