import type { EntryLog } from '../../../stores/port/collection';
import { type CommandResultStore, createCommandResultStore } from '../commands/result-store';
import { openWorkspaces, sandboxDirectory, type Workspaces, workspacesDirectory } from '../commands/workspace';
import type { WorkflowRunsContext } from '../context';
import { createPreviewStore, type PreviewStore } from '../previews/preview';
import { openPreviews, type Previews } from '../previews/previews';
import { createSnapshots, type Snapshots, snapshotsDirectory } from '../snapshots/snapshots';
import { openWebhookTokens, type WebhookTokens } from '../webhooks/webhook-token';
import { type CheckpointStore, createCheckpointStore } from './checkpoint-store';
import { createParentNotifier, type ParentNotifier } from './children/notify-parent';
import { type ChildRunStore, createChildRunStore } from './children/store';
import { createRunCommands, type RunCommands } from './commands';
import { createDispatcher, type Dispatcher } from './dispatcher';
import { createRunEnding } from './end-run';
import { type ContinuationStore, createContinuationStore } from './execution/continuations';
import type { RunEventEntry } from './execution/events';
import { createStageMessageStore, type StageMessageStore } from './execution/turns';
import { createTalkStore, type TalkStore } from './talks/store';
import { createWorkflowStore, type WorkflowStore } from './workflows';

/** What the routes and the activities of runs share. */
export interface RunsContext extends WorkflowRunsContext {
  events: EntryLog<RunEventEntry>;
  turns: StageMessageStore;
  talks: TalkStore;
  checkpoints: CheckpointStore;
  continuations: ContinuationStore;
  workflows: WorkflowStore;
  webhookTokens: WebhookTokens;
  workspaces: Workspaces;
  commandResults: CommandResultStore;
  previews: Previews;
  previewStore: PreviewStore;
  snapshots: Snapshots;
  children: ChildRunStore;
  notifyParent: ParentNotifier;
  dispatcher: Dispatcher;
  commands: RunCommands;
}

export async function openRuns(context: WorkflowRunsContext): Promise<RunsContext> {
  const { database, env, hostQueue } = context;
  const events = await database.log<RunEventEntry>({ name: 'workflow-run-events' });
  const continuations = await createContinuationStore(database);
  const notifyParent = createParentNotifier(context);
  const endRun = createRunEnding({ ...context, events, continuations, notifyParent });
  const shared = { ...context, endRun, maxEvents: env.WORKFLOW_RUNS_MAX_HISTORY_EVENTS };
  const commands = createRunCommands(shared);
  const workspaces = await openWorkspaces(database, {
    directory: workspacesDirectory(env),
    queue: hostQueue,
    now: context.now,
  });
  const previewStore = await createPreviewStore(database);
  const previews = await openPreviews({
    ...{ directory: sandboxDirectory(env), sandbox: context.sandbox, workspaces, store: previewStore },
    ...{ queue: hostQueue, port: env.WORKFLOW_RUNS_PREVIEW_PORT, now: context.now, log: context.log },
  });
  return {
    ...context,
    ...{ workspaces, previews, previewStore },
    children: await createChildRunStore(database),
    notifyParent,
    events,
    turns: await createStageMessageStore(database),
    talks: await createTalkStore(database),
    checkpoints: await createCheckpointStore(database),
    continuations,
    workflows: await createWorkflowStore(database),
    snapshots: createSnapshots({
      directory: snapshotsDirectory(env),
      repositories: env.WORKFLOW_RUNS_REPOSITORIES,
      now: context.now,
    }),
    commandResults: await createCommandResultStore(database),
    webhookTokens: await openWebhookTokens(database),
    dispatcher: createDispatcher({ ...shared, cancelRun: commands.cancel, concurrency: env.WORKFLOW_RUNS_CONCURRENCY }),
    commands,
  };
}
