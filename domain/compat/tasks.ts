import { z } from 'zod';
import { compatTask, compatTaskFields, compatTaskQuery, compatTaskSummary } from '../../contracts/compat';
import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import type { CompatRow, TaskWorktree } from './presenter';

/** Anything with the times of a task, which a list may show in part. */
type Timed = Pick<Task, 'createdAt' | 'updatedAt'>;

const withTimes = <T extends Timed>(task: T) => ({ ...task, created: task.createdAt, updated: task.updatedAt });

/** A task with the names of existing clients: `created`, `updated`, and its worktree in `git`. */
export function presentTask(task: Task, worktree: TaskWorktree | undefined) {
  if (!worktree) {
    return withTimes(task);
  }
  const { path, manifestId, branch, base, lease } = worktree;
  return {
    ...withTimes(task),
    git: {
      ...task.git,
      branch,
      baseBranch: base.branch,
      worktreePath: path,
      worktreeManifestId: manifestId,
      worktreeBaseCommit: base.sha,
      worktreeBaseSource: base.source,
      worktreeLeaseId: lease.leaseId,
      ...compact({ worktreeLeaseOwnerAttemptId: lease.ownerAttemptId ?? undefined }),
    },
  };
}

/** `view=summary` of a task. */
export function summarizeTask(task: Task) {
  const { id, title, status, priority, type, project, sprint, createdAt, updatedAt, subtasks, attempt } = task;
  const { verificationSteps = [], blockedBy, blockedReason, position, attachments, deliverables, github } = task;
  const { timeTracking } = task;
  return compact({
    id,
    title,
    status,
    priority,
    type,
    project,
    sprint,
    created: createdAt,
    updated: updatedAt,
    subtasks,
    verificationSteps,
    blockedBy,
    blockedReason,
    position,
    attachmentCount: attachments?.length ?? 0,
    deliverableCount: deliverables?.length ?? 0,
    github,
    timeTracking: timeTracking && { totalSeconds: timeTracking.totalSeconds, isRunning: timeTracking.isRunning },
    attempt,
  });
}

type TaskQuery = z.output<typeof compatTaskQuery>;

/** The fields of a task that were named, in its own order, and its id. */
const pick = (task: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(task).filter(([name]) => name === 'id' || names.includes(name)));

interface Tree {
  task: Task;
  children: Tree[];
}

/** Operations whose reply is a task. */
const oneTask = [
  ...['createTask', 'getTask', 'changeTask', 'restoreTask', 'promoteTask', 'demoteTask'],
  ...['createBacklogTask', 'getBacklogTask', 'changeBacklogTask'],
  ...['addComment', 'changeComment', 'deleteComment'],
  ...['addSubtask', 'changeSubtask', 'deleteSubtask', 'toggleCriterion', 'toggleCriterionByPath'],
  ...['addTaskDeliverable', 'changeTaskDeliverable', 'deleteTaskDeliverable'],
  ...['addDependency', 'removeDependency', 'addObservation', 'deleteObservation', 'deleteAttachment'],
  ...['startTimer', 'stopTimer', 'addTimeEntry', 'deleteTimeEntry'],
  ...['addVerificationStep', 'changeVerificationStep', 'deleteVerificationStep'],
];

/** Replies that are a task, or have tasks in them. */
export const taskRows: readonly CompatRow[] = [
  { operations: oneTask, present: (task: Task, tools) => tools.task(task), response: compatTask },
  {
    operations: ['listTasks'],
    query: compatTaskQuery,
    toQuery: () => ({}),
    present({ tasks }: { tasks: Task[] }, tools, own) {
      const { view, fields }: TaskQuery = own;
      const shown = view === 'summary' ? tasks.map(summarizeTask) : tasks.map(tools.task);
      return fields ? shown.map((task) => pick(task as object, fields)) : shown;
    },
    response: z.array(z.union([compatTaskSummary, compatTask, compatTaskFields])),
  },
  {
    operations: ['listArchivedTasks', 'listBacklog'],
    present: ({ tasks }: { tasks: Task[] }, tools) => tasks.map(tools.task),
    response: z.array(compatTask),
  },
  {
    operations: ['listPendingAutomation', 'listRunningAutomation'],
    present: (tasks: Task[], tools) => tasks.map(tools.task),
    response: z.array(compatTask),
  },
  {
    operations: ['suggestArchival'],
    present: (sprints: { tasks: Task[] }[], tools) =>
      sprints.map((one) => ({ ...one, tasks: one.tasks.map(tools.task) })),
    response: z.array(z.looseObject({ tasks: z.array(compatTask) })),
  },
  {
    operations: ['addAttachments', 'createSkillCapabilityTask', 'createSkillSecurityTask'],
    present: (reply: { task: Task }, tools) => ({ ...reply, task: tools.task(reply.task) }),
    response: z.looseObject({ task: compatTask }),
  },
  {
    operations: ['listDependencies'],
    present: (reply: { depends_on: Task[]; blocks: Task[] }, tools) => ({
      ...reply,
      depends_on: reply.depends_on.map(tools.task),
      blocks: reply.blocks.map(tools.task),
    }),
    response: z.looseObject({ depends_on: z.array(compatTask), blocks: z.array(compatTask) }),
  },
  {
    operations: ['getDependencyGraph'],
    present({ task, upstream, downstream }: { task: Task; upstream: Tree[]; downstream: Tree[] }, tools) {
      const below = (node: Tree): unknown => ({ task: tools.task(node.task), children: node.children.map(below) });
      return { task: tools.task(task), upstream: upstream.map(below), downstream: downstream.map(below) };
    },
    response: z.looseObject({ task: compatTask }),
  },
  {
    operations: ['listChanges'],
    present({ changes, ...reply }: { changes: { tasks: { created: Timed[]; updated: Timed[] } } }, tools) {
      // Whole tasks have their subtasks; what a list shows of one has not.
      const timed = (task: Timed) => ('subtasks' in task ? tools.task(task as Task) : withTimes(task));
      const { created, updated } = changes.tasks;
      return { ...reply, changes: { ...changes, tasks: { created: created.map(timed), updated: updated.map(timed) } } };
    },
    response: z.looseObject({ changes: z.looseObject({}) }),
  },
];
