import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { IssueSyncMode } from '../../contracts/integrations/issue-sync';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { issueSyncActor } from '../../domain/issue-sync/scope';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { cut } from '../../platform/text/cut';
import type { Forge } from '../../providers/forges/forge';
import { ForgeError } from '../../providers/forges/forge-error';
import type { Board, BoardTask } from '../../stores/board-files/board';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { askRules, ruleError } from '../../stores/governance/require-allowed';
import type { IssueMappingStore, MappingProblem, MappingRecord } from '../../stores/integrations/issue-mapping-store';
import type { IssueSyncStore } from '../../stores/integrations/issue-sync-store';
import { forgeCodeOf } from '../shared/forge-refusals';

export interface SyncStores {
  board: Pick<Board, 'create' | 'get' | 'list' | 'inArchive' | 'update'>;
  issueMappings: IssueMappingStore;
  issueSyncs: IssueSyncStore;
  rules: DecisionPoint;
  log: Log;
  now: () => Date;
}

/** One activity of a round, on one repository. */
export interface SyncRun extends SyncStores {
  /** The configured repository, and what it is called at its forge. */
  repo: string;
  repository: string;
  scope: string;
  mode: IssueSyncMode;
  labels: readonly string[];
  /** Comments of tasks are sent from this moment on; absent where comments are not synchronised. */
  commentsSince: string | undefined;
  round: string;
  forge: Forge;
  /** Aborted when the activity is to end. */
  signal: AbortSignal;
}

/** How long a pair with a problem is left alone unless its issue changes, in milliseconds. */
const retryAfterMs = 300_000;

/** What keeps one pair from being synchronised and no other; `undefined` for what concerns them all, or passes. */
export function problemOf(error: unknown, run: Pick<SyncRun, 'round' | 'now'>): MappingProblem | undefined {
  const refused =
    (error instanceof AppError && error.status < 500) ||
    (error instanceof ForgeError && ['invalid', 'forbidden', 'not-found'].includes(error.code));
  if (!refused) {
    return undefined;
  }
  const code = error instanceof AppError ? error.code : forgeCodeOf(error);
  return { code, message: cut(error.message, 1_000), at: run.now().toISOString(), round: run.round };
}

/** The moment before which a problem was met that is to be tried again now. */
export const retryBefore = (now: Date): string => new Date(now.getTime() - retryAfterMs).toISOString();

/** Whether a pair with a problem is left alone for now. */
export const isResting = ({ failed, problem }: MappingRecord, now: Date): boolean =>
  failed && problem !== undefined && problem.at >= retryBefore(now);

/** Whether a task's issue is one of this repository. */
export const isHere = ({ repository }: Pick<SyncRun, 'repository'>, named: string | undefined): boolean =>
  named?.toLowerCase() === repository.toLowerCase();

/** An issue of the forge; `undefined` when it is gone. */
export async function readIssue(forge: Forge, number: number): Promise<ForgeIssue | undefined> {
  try {
    return await forge.getIssue(number);
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'not-found') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Asks the rules about what the issue of a task is to say.
 *
 * @param change names it: it is counted and approved once
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`, which keep this pair from it
 */
export async function assertMessageAllowed(
  { rules, repository }: Pick<SyncRun, 'rules' | 'repository'>,
  { id: taskId, project }: Pick<Task, 'id' | 'project'>,
  { also, change }: { also: 'issue' | 'issue-comment'; change: string },
): Promise<void> {
  const { refused } = await askRules(rules, {
    action: 'external-message',
    also: [also],
    actor: issueSyncActor,
    taskId,
    project,
    subject: { repository, change },
    change: `${taskId}/${change}`,
  });
  if (refused) {
    throw ruleError(refused);
  }
}

/** The tasks of some locations, from memory. */
export const tasksIn = (board: Pick<Board, 'list'>, locations: readonly TaskLocation[]): Omit<BoardTask, 'path'>[] =>
  locations.flatMap((location) =>
    board.list({ limit: Number.MAX_SAFE_INTEGER }, location).tasks.map((task) => ({ task, location })),
  );
