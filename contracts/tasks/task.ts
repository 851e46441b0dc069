import { z } from 'zod';
import {
  attemptId,
  branchName,
  clearable,
  commitPolicy,
  digest,
  revision,
  revisionInFile,
  slug,
  taskId,
  text,
  timestamp,
} from '../common';
import { cursor } from '../cursor';
import { externalWorkItem, maxExternalWorkItems } from '../integrations/trackers/external-work-item';
import { nextCursor } from '../query';
import { webUrl } from '../url';
import { attachment } from './attachment';
import { taskAutomation } from './automation';
import { taskCheckpointMark } from './checkpoint';
import { comment, maxComments } from './comment';
import { deliverable } from './deliverable';
import { observation } from './observation';
import { defaultReviewDelivery, reviewState, taskReview } from './review';
import { subtask, subtaskInputs } from './subtask';
import { timeTracking } from './time';
import { verificationStep } from './verification';

/** Board columns. The specification names these four; configurable columns come with the board's settings. */
export const taskStatus = z.enum(['todo', 'in-progress', 'blocked', 'done']).meta({ id: 'TaskStatus' });
export const taskPriority = z.enum(['low', 'medium', 'high', 'critical']);
export const taskLocation = z.enum(['active', 'backlog', 'archive']);
export type TaskStatus = z.infer<typeof taskStatus>;
export type TaskLocation = z.infer<typeof taskLocation>;

export const sideEffectKind = z.enum([
  'filesystem-write',
  'process-execute',
  'network-egress',
  'git-commit',
  'external-write',
  'artifact-write',
  'task-mutate',
]);

export const executionPolicy = z
  .strictObject({
    commitPolicy: commitPolicy.optional(),
    /** Whether a run of a task of type `code` that changed nothing and reported nothing may be a success. */
    allowEmptyResult: z.boolean().optional(),
    /** `required`: a success does not complete the task; its review does. */
    review: z.enum(['required']).optional(),
    /** How an acceptance delivers the result that names no delivery; as the settings have it when absent. */
    reviewDelivery: defaultReviewDelivery.optional(),
    allowedSideEffects: z
      .array(z.strictObject({ kind: sideEffectKind, scope: text(500, 1) }))
      .max(64)
      .optional(),
    expectedOutputs: z
      .array(
        z.strictObject({
          id: slug,
          kind: z.enum(['text', 'file', 'artifact', 'commit', 'other']),
          description: text(1000).optional(),
          required: z.boolean().optional(),
        }),
      )
      .max(64)
      .optional(),
  })
  .meta({ id: 'ExecutionPolicy' });

/** Where a task's code lives. `repo` names a configured repository; `branch` defaults to `board/<taskId>`. */
export const taskGit = z
  .strictObject({
    repo: slug.optional(),
    baseBranch: text(200, 1).optional(),
    branch: text(200, 1).optional(),
    worktreePath: text(4096).optional(),
    worktreeBaseCommit: text(64).optional(),
    prUrl: text(2000).optional(),
    prNumber: z.number().int().min(1).optional(),
  })
  .meta({ id: 'TaskGit' });

export const blockedReason = z.strictObject({
  category: z.enum(['waiting-on-feedback', 'technical-snag', 'prerequisite', 'other']),
  note: text(1000).optional(),
});

/**
 * What a task waits for. The truth is `depends_on` of the task that waits; `blocks` is what a person may have written on
 * the other side, which counts as well.
 */
export const taskDependencies = z
  .looseObject({
    depends_on: z.array(z.string().max(64)).max(100).optional(),
    blocks: z.array(z.string().max(64)).max(1000).optional(),
  })
  .meta({ id: 'TaskDependencies' });
export type TaskDependencies = z.infer<typeof taskDependencies>;

/** The longest cause of a run's failure, in characters. */
export const maxCauseLength = 300;

/** The task's view of its latest run; the record itself is the attempt in the stores. */
export const taskAttempt = z.object({
  id: attemptId,
  agent: slug,
  status: z.enum(['pending', 'running', 'complete', 'failed']),
  started: timestamp.optional(),
  ended: timestamp.optional(),
  result: z.enum(['success', 'blocked', 'failed', 'interrupted', 'partial']).optional(),
  summary: z.string().max(2000).optional(),
  /** Why the run did not succeed, in one line; absent when it did or was stopped. */
  cause: z.string().max(maxCauseLength).optional(),
  completionDigest: digest.optional(),
});
export type TaskAttempt = z.infer<typeof taskAttempt>;

/** How much a task may have learnt: characters of text, tags, and reflections that were taken. */
export const lessonsLimit = { length: 100_000, tags: 100, sources: 1_000 };

const taskGithub = z.strictObject({
  issueNumber: z.number().int().min(1),
  repo: text(200, 1),
  url: text(2000).optional(),
});

/** The fields of a task that callers may set. */
const writable = {
  title: text(200, 1),
  description: text(100_000),
  type: z
    .string()
    .max(50)
    .regex(/^[a-z0-9][a-z0-9-]*$/),
  status: taskStatus,
  priority: taskPriority,
  project: text(200),
  sprint: text(200),
  assignee: text(200),
  agent: slug,
  executionPolicy,
  git: taskGit,
  github: taskGithub,
  subtasks: z.array(subtask).max(500),
  autoCompleteOnSubtasks: z.boolean(),
  /** What the task waits for in the older form; `dependencies` is the one with both sides. */
  blockedBy: z.array(taskId).max(100),
  blockedReason: blockedReason.nullable(),
  plan: text(100_000),
  position: z.number(),
  /** What was learnt, in markdown. */
  lessonsLearned: text(lessonsLimit.length),
  lessonTags: z.array(slug).max(50),
};

/**
 * A task as it is stored and returned. Loose: fields of later features and fields a person added to the file by hand are
 * preserved.
 */
export const task = z
  .looseObject({
    ...writable,
    id: taskId,
    description: writable.description.default(''),
    type: writable.type.default('code'),
    status: taskStatus.default('todo'),
    priority: taskPriority.default('medium'),
    project: writable.project.optional(),
    sprint: writable.sprint.optional(),
    assignee: writable.assignee.optional(),
    agent: slug.optional(),
    executionPolicy: executionPolicy.optional(),
    git: taskGit.optional(),
    github: writable.github.optional(),
    subtasks: writable.subtasks.default([]),
    autoCompleteOnSubtasks: z.boolean().optional(),
    dependencies: taskDependencies.optional(),
    blockedBy: writable.blockedBy.optional(),
    blockedReason: writable.blockedReason.optional(),
    plan: writable.plan.optional(),
    position: z.number().optional(),
    lessonsLearned: writable.lessonsLearned.optional(),
    lessonTags: z.array(text(100)).max(lessonsLimit.tags).optional(),
    /** The reflections that are among the lessons: each is taken once. */
    lessonSources: z.array(z.string().max(64)).max(lessonsLimit.sources).optional(),
    verificationSteps: z.array(verificationStep).max(500).optional(),
    timeTracking: timeTracking.optional(),
    comments: z.array(comment).max(maxComments).optional(),
    observations: z.array(observation).max(500).optional(),
    deliverables: z.array(deliverable).max(500).optional(),
    checkpoint: taskCheckpointMark.optional(),
    attachments: z.array(attachment).max(100).optional(),
    /** The session outside of the board that does it, or did. */
    automation: taskAutomation.optional(),
    attempt: taskAttempt.optional(),
    review: taskReview.optional(),
    /** The work items of external trackers that it was written to or came from. */
    externalWorkItems: z.array(externalWorkItem).max(maxExternalWorkItems).optional(),
    /** What the runs of the task have cost, in the currency their agents report. */
    actualCost: z.number().min(0).optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
    /** When it was in progress for the first time. */
    startedAt: timestamp.optional(),
    /** When it became done; absent while it is not. */
    completedAt: timestamp.optional(),
    revision: revisionInFile,
    createdBy: z.string().optional(),
    updatedBy: z.string().optional(),
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof task>;

/** As callers send it, on create and on patch alike: with addresses that a page may link to, and steps without ids. */
const sent = {
  ...writable,
  subtasks: subtaskInputs,
  git: taskGit.extend({
    baseBranch: branchName.optional(),
    branch: branchName.optional(),
    prUrl: webUrl.optional(),
  }),
  github: taskGithub.extend({ url: webUrl.optional() }),
};

export const taskCreate = z
  .strictObject({ ...z.object(sent).partial().shape, title: sent.title })
  .meta({ id: 'TaskCreate' });
export type TaskCreateRequest = z.infer<typeof taskCreate>;

/** A new task whose steps have their ids. */
export type TaskCreate = Omit<TaskCreateRequest, 'subtasks'> & Pick<Partial<Task>, 'subtasks'>;

/** `expectedRevision` is the body form of `If-Match` and `X-Resource-Revision`. */
export const taskPatch = z
  .strictObject({
    ...z.object(sent).partial().shape,
    project: clearable(writable.project),
    sprint: clearable(writable.sprint),
    assignee: clearable(writable.assignee),
    agent: clearable(writable.agent),
    executionPolicy: clearable(writable.executionPolicy),
    git: clearable(sent.git),
    github: clearable(sent.github),
    autoCompleteOnSubtasks: clearable(writable.autoCompleteOnSubtasks),
    blockedBy: clearable(writable.blockedBy),
    blockedReason: clearable(writable.blockedReason),
    plan: clearable(writable.plan),
    position: clearable(writable.position),
    lessonsLearned: clearable(writable.lessonsLearned),
    lessonTags: clearable(writable.lessonTags),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'TaskPatch' });
export type TaskPatchRequest = z.infer<typeof taskPatch>;

/** A patch whose steps have their ids. */
export type TaskPatch = Omit<TaskPatchRequest, 'subtasks'> & Pick<Partial<Task>, 'subtasks'>;

/** A comma-separated list of one enumeration. */
const listOf = <T extends z.ZodType<string, string>>(item: T) =>
  z
    .string()
    .max(500)
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item).min(1));

/** `limit` or `page` turns numbered pages on; without them every matching task is returned, 10,000 at a time. */
export const taskQuery = z
  .strictObject({
    status: listOf(taskStatus).optional(),
    priority: listOf(taskPriority).optional(),
    type: listOf(z.string()).optional(),
    project: z.string().max(200).optional(),
    sprint: z.string().max(200).optional(),
    assignee: z.string().max(200).optional(),
    agent: z.string().max(64).optional(),
    review: listOf(reviewState).optional(),
    q: z.string().max(200).optional(),
    page: z.coerce.number().int().min(1).max(100_000).optional(),
    limit: z.coerce.number().int().min(1).max(1000).optional(),
    cursor: cursor.optional(),
  })
  .meta({ id: 'TaskQuery' });
export type TaskQuery = z.infer<typeof taskQuery>;

export const pagination = z
  .object({ page: z.number(), limit: z.number(), total: z.number(), totalPages: z.number() })
  .meta({ id: 'Pagination' });

/** A file on the board that cannot be read as a task; it is not touched until a person repairs it. */
export const boardDiagnostic = z
  .object({
    location: taskLocation,
    path: z.string(),
    code: z.enum(['unreadable', 'invalid', 'duplicate-id']),
    message: z.string(),
    /** Of `duplicate-id`: the identity that several files claim. */
    identity: z.string().optional(),
  })
  .meta({ id: 'BoardDiagnostic' });
export type BoardDiagnostic = z.infer<typeof boardDiagnostic>;

export const taskList = z
  .object({
    tasks: z.array(task),
    pagination: pagination.optional(),
    nextCursor,
    meta: z.object({ taskIdentityDiagnostics: z.array(boardDiagnostic) }).optional(),
  })
  .meta({ id: 'TaskList' });

/** Tasks per column, plus `backlog` and `archived`. */
export const taskCounts = z.record(z.string(), z.number().int()).meta({ id: 'TaskCounts' });
