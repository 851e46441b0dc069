/**
 * Records one history for each scenario of each workflow into `test/replay/histories`, from the service as it is built
 * now. Run before a change to a workflow (`npm run record:histories`), so that the change can be replayed against it.
 * With the names of groups (`npm run record:histories -- approvals`) only theirs are recorded.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { githubToken } from '../support/forges/github-server';
import { gitBreakpoints } from '../support/git/git-breakpoints';
import { aRepository } from '../support/git/repository';
import { type ReviewModels, reviewModels } from '../support/models/review-models';
import { exampleAgent } from '../support/runs/example-agent';
import { confinedAgent } from '../support/runs/phases';
import { toolUser } from '../support/runs/tool-run';
import { startService } from '../support/stack/service';
import { admissionScenarios } from './scenarios/admission';
import { approvalScenarios } from './scenarios/approvals';
import { checkScenarios, repositoryScenarios, repositoryViewScenarios } from './scenarios/checks';
import { commandScenarios } from './scenarios/commands';
import {
  cancelledDeliveryScenarios,
  communicationScenarios,
  recordedIdentity,
} from './scenarios/communication/adapters';
import { conversationScenarios } from './scenarios/conversations';
import { issueSyncScenarios } from './scenarios/forges/issue-sync';
import { pullRequestScenarios } from './scenarios/forges/pull-requests';
import { trackerScenarios } from './scenarios/forges/trackers';
import { decisionReviewScenarios } from './scenarios/governance/decision-reviews';
import { goalScenarios } from './scenarios/governance/goals';
import { cancelledHookScenarios, hookScenarios } from './scenarios/hooks';
import { phaseScenarios } from './scenarios/phases';
import { provenScenarios } from './scenarios/proven';
import { lostScenarios } from './scenarios/recovery/lost';
import { pausedScenarios } from './scenarios/recovery/paused';
import { reattachedScenarios } from './scenarios/recovery/reattached';
import { resultScenarios } from './scenarios/results';
import { attachmentScenarios, retentionScenarios, skillScenarios } from './scenarios/retention';
import { reviewScenarios } from './scenarios/reviews';
import { rewindScenarios } from './scenarios/rewinds';
import { runScenarios } from './scenarios/runs';
import { scheduledDeliverableScenarios, scheduledLaunchScenarios } from './scenarios/scheduled-launches';
import type { Recording, Stage } from './scenarios/stage';
import { timeoutScenarios } from './scenarios/timeouts';
import { toolScenarios } from './scenarios/tools/tool-calls';
import { trustScenarios } from './scenarios/trust';
import { storeWorkScenarios } from './scenarios/workflows/store-work';
import { workflowJoinScenarios } from './scenarios/workflows/workflow-joins';
import { workflowOutputScenarios } from './scenarios/workflows/workflow-outputs';
import { workflowRunScenarios } from './scenarios/workflows/workflow-runs';
import { workflowToolScenarios } from './scenarios/workflows/workflow-tools';
import { worktreeScenarios } from './scenarios/worktrees';

const histories = join(__dirname, 'histories');

/** What is recorded together, in this order: later ones may use what earlier ones have configured. */
const groups = (models: ReviewModels): Record<string, (stage: Stage) => Promise<Recording[]>> => ({
  runs: runScenarios,
  worktrees: worktreeScenarios,
  repositories: repositoryScenarios,
  views: repositoryViewScenarios,
  checks: checkScenarios,
  pulls: pullRequestScenarios,
  issues: issueSyncScenarios,
  trackers: trackerScenarios,
  attachments: attachmentScenarios,
  retention: retentionScenarios,
  skills: skillScenarios,
  scheduled: scheduledLaunchScenarios,
  deliverables: scheduledDeliverableScenarios,
  workflows: workflowRunScenarios,
  'workflow-joins': workflowJoinScenarios,
  'workflow-tools': workflowToolScenarios,
  'workflow-outputs': workflowOutputScenarios,
  goals: goalScenarios,
  hooks: hookScenarios,
  'cancelled-hooks': cancelledHookScenarios,
  communication: communicationScenarios,
  'cancelled-delivery': cancelledDeliveryScenarios,
  approvals: approvalScenarios,
  phases: phaseScenarios,
  admission: admissionScenarios,
  timeouts: timeoutScenarios,
  rewinds: rewindScenarios,
  results: resultScenarios,
  'store-work': storeWorkScenarios,
  reviews: reviewScenarios,
  tools: toolScenarios,
  trust: trustScenarios,
  commands: commandScenarios,
  conversations: conversationScenarios,
  lost: lostScenarios,
  paused: pausedScenarios,
  reattached: reattachedScenarios,
  proven: provenScenarios,
  decisions: decisionReviewScenarios(models),
});

/** Stack traces name the paths of the machine that records. */
const withoutTraces = (history: string): string => history.replace(/("stackTrace": )"(?:[^"\\]|\\.)*"/g, '$1""');

async function main(): Promise<void> {
  const files = await makeTempDir('record');
  const breakpoints = await gitBreakpoints(files.path);
  const models = await reviewModels();
  const service = await startService({
    ...models.settings,
    BOARD_MAX_RUNS: '2',
    BOARD_WEBHOOK_ALLOW_PRIVATE: 'true',
    BOARD_FORGE_ALLOW_PRIVATE: 'true',
    GITHUB_RECORDED_TOKEN: githubToken,
    COMMUNITY_RECORDED_KEY: recordedIdentity.privateKey,
    BOARD_RETRY_BACKOFF_MS: '5000',
    BOARD_CHECKPOINT_INTERVAL_MS: '200',
    PATH: breakpoints.path,
    // Where nothing listens: questions to hosts are recorded as the workflows they are without it.
    TEMPORAL_HTTP_ADDRESS: '127.0.0.1:1',
  });
  const connection = await Connection.connect({ address: service.temporalAddress });
  const temporal = new Client({ connection });
  try {
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      scriptAgent('worker-bee'),
      scriptAgent('editor'),
      scriptAgent('as-told'),
      scriptAgent('listener'),
      exampleAgent(files.path),
      { ...toolUser(join(files.path, 'bridge.json')), toolServers: ['ledger'] },
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
      { ...scriptAgent('worker-bee', '600', '50'), type: 'lasting-bee', reattach: true },
      { ...scriptAgent('misbehaving', 'exits-1'), type: 'failing' },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      confinedAgent(),
      { ...confinedAgent('confined-listener'), ...scriptAgent('listener'), type: 'confined-listener' },
      { ...confinedAgent('confined-elsewhere'), provider: 'remote-callback', command: undefined, args: undefined },
    ]);
    await mkdir(histories, { recursive: true });
    const chosen = process.argv.slice(2);
    const stage: Stage = { service, temporal, dir: files.path, breakpoints };
    const recorded: Recording[] = [];
    for (const [group, play] of Object.entries(groups(models))) {
      if (chosen.length === 0 || chosen.includes(group)) {
        recorded.push(...(await play(stage)));
      }
    }
    for (const [name, workflowId] of recorded) {
      await temporal.workflow.getHandle(workflowId).result();
      const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
      await writeFile(join(histories, `${name}.json`), withoutTraces(historyToJSON(history)));
      process.stdout.write(`${name}: ${history.events?.length ?? 0} events\n`);
    }
  } finally {
    await connection.close();
    await service.close();
    await models.close();
    await files.remove();
  }
}

void main();
