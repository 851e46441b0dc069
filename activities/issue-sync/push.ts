import { randomBytes } from 'node:crypto';
import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { isTaskUnchanged } from '../../domain/issue-sync/compare';
import { fieldsOfTask, issueBody, markerIn } from '../../domain/issue-sync/issue-text';
import { labelsOfTask } from '../../domain/issue-sync/labels';
import type { MappingRecord } from '../../stores/integrations/issue-mapping-store';
import { unsentComments } from './comments';
import { newMapping } from './pull';
import { detach, issueGone, syncPair } from './sync-pair';
import { assertMessageAllowed, isHere, isResting, problemOf, readIssue, type SyncRun, tasksIn } from './sync-run';

/** Mappings that are read at a time. */
const chunkSize = 200;
/** How far the clock of a forge may be behind, in milliseconds: one that is further would have an issue created twice. */
const clockSkewMs = 86_400_000;

/** Writes the tasks of the repository that were changed to their issues, and creates the issues that are missing. */
export async function pushTasks(run: SyncRun): Promise<void> {
  const tasks = tasksIn(run.board, ['active', 'backlog']).filter(
    ({ task }) => task.git?.repo === run.repo || isHere(run, task.github?.repo),
  );
  for (let start = 0; start < tasks.length; start += chunkSize) {
    const chunk = tasks.slice(start, start + chunkSize);
    const mappings = await run.issueMappings.ofTasks(chunk.map(({ task }) => task.id));
    for (const { task, location } of chunk) {
      run.signal.throwIfAborted();
      await pushTask(run, { task, location, mapping: mappings.get(task.id) });
    }
  }
}

interface TaskToPush {
  task: Task;
  location: TaskLocation;
  mapping: MappingRecord | undefined;
}

async function pushTask(run: SyncRun, { task, location, mapping }: TaskToPush): Promise<void> {
  if (!mapping) {
    if (task.github !== undefined) {
      await adopt(run, task, task.github);
    } else if (location === 'active' && task.status !== 'done' && task.git?.repo === run.repo) {
      await createIssue(run, task);
    }
    return;
  }
  const isUnchanged =
    mapping.taskRevision === task.revision && mapping.state === 'linked' && isSent(run, mapping, task);
  if (mapping.scope !== run.scope || isUnchanged || isResting(mapping, run.now())) {
    return;
  }
  if (mapping.issueNumber === null) {
    await createIssue(run, task, mapping);
    return;
  }
  if (mapping.state === 'creating' && mapping.origin === 'issue') {
    return;
  }
  await pushPair(run, { task, mapping, number: mapping.issueNumber });
}

/** Whether the issue has the comments of its task that it is to get. */
const isSent = (run: SyncRun, mapping: MappingRecord, task: Task): boolean =>
  (run.commentsSince === undefined || mapping.comments?.sending === undefined) &&
  unsentComments(run, mapping, task).length === 0;

async function pushPair(
  run: SyncRun,
  { task, mapping, number }: { task: Task; mapping: MappingRecord; number: number },
): Promise<void> {
  const { base, state, taskRevision } = mapping;
  const namesIssue = task.github?.issueNumber === number && isHere(run, task.github.repo);
  if (state === 'detached' && (!namesIssue || mapping.problem?.code === issueGone.code)) {
    return;
  }
  if (state === 'linked' && namesIssue && base && isSent(run, mapping, task) && isTaskUnchanged(task, base)) {
    await run.issueMappings.change(mapping, { taskRevision: task.revision });
    return;
  }
  const issue = await readIssue(run.forge, number);
  if (!issue) {
    await detach(run, mapping, issueGone);
    return;
  }
  const kind = state === 'creating' || taskRevision === undefined ? 'exported' : 'updated';
  await syncPair(run, { mapping, issue, fresh: true, kind });
}

/** Links a task to the issue that it names by itself. */
async function adopt(run: SyncRun, task: Task, { issueNumber }: NonNullable<Task['github']>): Promise<void> {
  if (!isHere(run, task.github?.repo)) {
    return;
  }
  const issue = await readIssue(run.forge, issueNumber);
  const mapping = issue && (await run.issueMappings.add(newMapping(run, issue, task.id)));
  if (issue && mapping) {
    await syncPair(run, { mapping, issue, fresh: true, kind: 'updated' });
  }
}

/**
 * Creates the issue of a task, once: the mapping with the nonce is written before, and a later try looks for the issue that has
 * the nonce. A writer that was overtaken while it slept fails at the mapping, right before it would create a second one.
 */
async function createIssue(run: SyncRun, task: Task, earlier?: MappingRecord): Promise<void> {
  const { title, body } = fieldsOfTask(task);
  const mapping = earlier ?? (await run.issueMappings.add(mappingOf(run, task)));
  if (!mapping) {
    return;
  }
  const marker = { taskId: task.id, nonce: mapping.nonce ?? '' };
  let issue = earlier && (await findCreated(run, earlier));
  let current = mapping;
  if (!issue) {
    current = await run.issueMappings.change(current, {});
    try {
      await assertMessageAllowed(run, task, { also: 'issue', change: `created@${task.revision}` });
      issue = await run.forge.createIssue({
        title,
        body: issueBody(body, marker),
        labels: [...run.labels, ...labelsOfTask(task, run.labels)],
      });
    } catch (error) {
      const problem = problemOf(error, run);
      if (!problem) {
        throw error;
      }
      run.log.warn({ taskId: task.id, code: problem.code }, 'issue creation refused');
      await run.issueMappings.change(current, { problem });
      return;
    }
  }
  current = await run.issueMappings.change(current, { issueNumber: issue.number, url: issue.url.slice(0, 2_000) });
  await syncPair(run, { mapping: current, issue, fresh: true, kind: 'exported' });
}

const mappingOf = ({ repo, repository, scope, now }: SyncRun, { id: taskId }: Task) => ({
  ...{ taskId, repo, repository, scope, issueNumber: null, url: null },
  origin: 'task' as const,
  state: 'creating' as const,
  nonce: randomBytes(16).toString('hex'),
  createdAt: now().toISOString(),
});

/** The issue that an earlier try has created, whether or not it got to know of it. */
async function findCreated(run: SyncRun, { taskId, nonce, createdAt }: MappingRecord): Promise<ForgeIssue | undefined> {
  const since = new Date(Date.parse(createdAt) - clockSkewMs).toISOString();
  for await (const page of run.forge.issues({ labels: [], since })) {
    run.signal.throwIfAborted();
    const found = page.find(({ body }) => {
      const marker = markerIn(body);
      return marker?.taskId === taskId && marker.nonce === nonce;
    });
    if (found) {
      return found;
    }
  }
  return undefined;
}
