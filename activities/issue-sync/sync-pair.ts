import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { Comment } from '../../contracts/tasks/comment';
import type { Task } from '../../contracts/tasks/task';
import { webUrl } from '../../contracts/url';
import { nextBase, planSync, type SyncPlan, writesIssue } from '../../domain/issue-sync/compare';
import { fieldsOfIssue, issueBody } from '../../domain/issue-sync/issue-text';
import { fieldsOfLabels } from '../../domain/issue-sync/labels';
import { issueSyncActor } from '../../domain/issue-sync/scope';
import { statusEffects } from '../../domain/status-effects';
import { AppError, conflict } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import type { IssueChange } from '../../providers/forges/forge';
import type { MappingChange, MappingRecord } from '../../stores/integrations/issue-mapping-store';
import { commentsAfter, commentsToImport, findSent, readComments, sendComments } from './comments';
import { assertMessageAllowed, problemOf, readIssue, type SyncRun } from './sync-run';

/** How often a pair is compared again that changes under the comparison. */
const maxTries = 5;

export interface PairToSync {
  mapping: MappingRecord;
  issue: ForgeIssue;
  /** Whether the issue was read by itself just now, and not as one of a list. */
  fresh: boolean;
  kind: MappingChange['kind'];
}

/** Makes an issue and its task equal again. What keeps this pair from it is stored with the mapping. */
export async function syncPair(run: SyncRun, pair: PairToSync): Promise<void> {
  try {
    await makeEqual(run, pair);
  } catch (error) {
    const problem = problemOf(error, run);
    if (!problem) {
      throw error;
    }
    run.log.warn({ taskId: pair.mapping.taskId, issue: pair.issue.number, code: problem.code }, 'issue sync refused');
    const current = await run.issueMappings.get(pair.mapping.taskId);
    if (current) {
      await run.issueMappings.change(current, { problem });
    }
  }
}

async function makeEqual(run: SyncRun, { mapping: read, kind, ...pair }: PairToSync): Promise<void> {
  let mapping = read;
  if (mapping.state === 'creating' && mapping.origin === 'issue') {
    await createTask(run, mapping, pair.issue);
  }
  let { issue, fresh } = pair;
  const comments = await readComments(run, mapping, issue);
  mapping = await findSent(run, mapping, comments);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const found = await run.board.get(mapping.taskId);
    const unlinked = found ? whyUnlinked(found.task, mapping, issue) : taskGone;
    if (!found || unlinked) {
      await detach(run, mapping, unlinked ?? taskGone);
      return;
    }
    const { base } = mapping;
    const plan = planSync({ issue, task: found.task, base, mode: run.mode, filter: run.labels });
    if (writesIssue(plan) && !fresh) {
      const read = await readIssue(run.forge, issue.number);
      if (!read) {
        await detach(run, mapping, issueGone);
        return;
      }
      issue = read;
      fresh = true;
      continue;
    }
    const imported = commentsToImport(run, mapping, { comments, issue, task: found.task });
    const task = await changeTask(run, found.task, { plan, issue, added: imported.added });
    if (!task) {
      continue;
    }
    if (writesIssue(plan)) {
      await assertMessageAllowed(run, task, { also: 'issue', change: `changed@${task.revision}` });
      issue = await run.forge.updateIssue(issue.number, issueChange(plan, mapping));
    }
    const before = mapping;
    mapping = await sendComments(run, mapping, { issue, task });
    const isCommented = imported.added.length > 0 || mapping !== before;
    await settle(run, mapping, { issue, task, plan, kind, imported: imported.ids, isCommented });
    return;
  }
  throw conflict(`Task ${mapping.taskId} keeps changing.`);
}

/** Creates the task of an issue; an earlier try may have. */
async function createTask(run: SyncRun, { taskId }: MappingRecord, issue: ForgeIssue): Promise<void> {
  if (await run.board.get(taskId)) {
    return;
  }
  const { title, body } = fieldsOfIssue(issue);
  const task = { title, description: body, ...fieldsOfLabels(issue.labels) };
  const location = { git: { repo: run.repo }, github: reference(run, issue) };
  try {
    await run.board.create({ ...task, ...location }, { actor: issueSyncActor, id: taskId });
  } catch (error) {
    // A deleted task has its id for as long as it can be restored.
    if (!(error instanceof AppError && error.details.resourceId === taskId && error.status === 409)) {
      throw error;
    }
  }
}

const reference = ({ repository }: SyncRun, { number, url }: ForgeIssue): NonNullable<Task['github']> => ({
  issueNumber: number,
  repo: repository,
  ...(webUrl.safeParse(url).success ? { url } : {}),
});

const taskGone = { code: 'TASK_GONE', message: 'The task was deleted. Restore it to have it synchronised again.' };
export const issueGone = { code: 'ISSUE_GONE', message: 'The forge does not have the issue any more.' };
const unlinkedBy = { code: 'UNLINKED', message: 'The task does not name the issue in its field github any more.' };

/** Why a task is not the one of the issue: it names another, or was made to name none. */
function whyUnlinked({ github }: Task, { taskRevision, repository }: MappingRecord, { number }: ForgeIssue) {
  if (github === undefined) {
    return taskRevision === undefined ? undefined : unlinkedBy;
  }
  const isSame = github.issueNumber === number && github.repo.toLowerCase() === repository.toLowerCase();
  return isSame ? undefined : unlinkedBy;
}

/** Ends the synchronisation of a pair; the mapping stays, so that neither is created again. */
export async function detach(
  { issueMappings, now }: Pick<SyncRun, 'issueMappings' | 'now'>,
  mapping: MappingRecord,
  why: { code: string; message: string },
): Promise<void> {
  if (mapping.state !== 'detached' || mapping.problem?.code !== why.code) {
    const problem = { ...why, at: now().toISOString(), round: '' };
    await issueMappings.change(mapping, { state: 'detached', problem });
  }
}

/** The task after the plan, or as it was; `undefined` when it has changed since it was read. */
async function changeTask(
  run: SyncRun,
  task: Task,
  { plan, issue, added }: { plan: SyncPlan; issue: ForgeIssue; added: Comment[] },
): Promise<Task | undefined> {
  const change = {
    ...plan.task,
    ...(task.github === undefined ? { github: reference(run, issue) } : {}),
    ...(added.length > 0 ? { comments: [...(task.comments ?? []), ...added] } : {}),
  };
  if (Object.keys(change).length === 0) {
    return task;
  }
  try {
    return await run.board.update(
      task.id,
      (current, location) => {
        if (location === 'archive') {
          throw conflict(`Task ${current.id} is in the archive; restore it first.`, { location });
        }
        return { ...change, ...(change.status === undefined ? {} : statusEffects(change.status, current)) };
      },
      { actor: issueSyncActor, expectedRevision: task.revision },
    );
  } catch (error) {
    if (error instanceof AppError && error.status === 409 && 'expectedRevision' in error.details) {
      return undefined;
    }
    throw error;
  }
}

function issueChange(
  { issue: { title, body, state }, labels }: SyncPlan,
  { taskId, nonce }: MappingRecord,
): IssueChange {
  const marker = nonce === undefined ? undefined : { taskId, nonce };
  return compact({
    title,
    state,
    body: body === undefined ? undefined : issueBody(body, marker),
    addLabels: labels?.add,
    removeLabels: labels?.remove,
  });
}

/** How a pair was made equal. */
interface Made {
  issue: ForgeIssue;
  task: Task;
  plan: SyncPlan;
  kind: MappingChange['kind'];
  /** The comments at the forge that the task has now. */
  imported: readonly string[];
  isCommented: boolean;
}

async function settle(
  run: SyncRun,
  mapping: MappingRecord,
  { issue, task, plan, kind, imported, isCommented }: Made,
): Promise<void> {
  const at = run.now().toISOString();
  const { round } = run;
  const changed = isCommented || kind !== 'updated' || Object.keys(plan.task).length > 0 || writesIssue(plan);
  // What was created in this round is not counted as updated as well.
  const counts = changed && !(kind === 'updated' && mapping.change?.round === round);
  const tooLong = 'The issue has a text that is too long for a task, so that the description is not written to it.';
  await run.issueMappings.change(mapping, {
    state: 'linked',
    issueNumber: issue.number,
    base: nextBase({ issue, task }, { plan, base: mapping.base }),
    issueUpdatedAt: issue.updatedAt,
    taskRevision: task.revision,
    syncedAt: at,
    url: issue.url.slice(0, 2_000),
    problem: plan.bodyTooLong ? { code: 'BODY_TOO_LONG', message: tooLong, at, round } : undefined,
    ...commentsAfter(run, mapping, imported),
    ...(counts ? { change: { round, kind } } : {}),
    ...(plan.conflicts.length > 0 ? { conflict: { fields: plan.conflicts, at } } : {}),
  });
}
