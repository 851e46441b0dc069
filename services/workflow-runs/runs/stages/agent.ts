import { proxyActivities } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { AgentActivities } from '../../board/activities';
import type { AgentEnd, AgentLaunch } from '../../board/messages';
import type { AgentNode, GraphNode } from '../../graph/graph';
import { nothingUsed } from '../../usage/sum';
import type { StageUnderWay } from '../execution/cursor';
import { fillIn, maxPromptCharacters } from '../execution/prompt-text';
import type { StageContext, Worked } from '../execution/stages';
import type { Stage } from '../run';
import { awaitLaunched } from './agent-attempt';
import { nextAttempt, noteFailure } from './attempts';

const { storeAgentTurns } = proxyActivities<Pick<AgentActivities, 'storeAgentTurns'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Has the board launch an agent and waits for its end, again as often as the node allows when it fails, and then other agents. */
export async function runAgent(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress } = run;
  const { agent, maxRetries } = node;
  const { stage } = underWay;
  if (!agent) {
    throw new Error(`${node.id} launches no agent.`);
  }
  const prompt = promptOf(node, run);
  await progress.flush();
  for (;;) {
    const attempt = underWay.agent ? (underWay.attempt ?? 1) : await nextAttempt(node, underWay, run);
    const { at, from } = underWay.fallback ?? { at: 0, from: 1 };
    underWay.agent ??= {
      refusals: 0,
      used: stage.usage ?? nothingUsed,
      ...(node.timeoutMs !== undefined && { untilMs: Date.now() + node.timeoutMs }),
    };
    const launch = launchOf(node, agent, { prompt, run, stage, fallback: at });
    const end = await awaitLaunched(underWay.agent, { run, underWay, launch, attempt });
    const { attemptId = '', used, name } = underWay.agent;
    delete underWay.agent;
    stage.usage = used;
    if (name !== undefined) {
      stage.model = `agent:${name}`;
    }
    progress.record(
      { AgentEnded: { stage_id: stage.id, attempt_id: attemptId, status: end.status } },
      `${stage.id}/${attempt}`,
    );
    const isLast = attempt - from >= maxRetries;
    const next = agent.fallbacks?.[at];
    if (end.status === 'success' || (isLast && next === undefined)) {
      await storeAgentTurns({ runId: run.runId, stageId: stage.id, prompt, summary: end.summary });
      return ended(node, end, { run, stage, retries: attempt - 1 });
    }
    if (isLast && next !== undefined) {
      underWay.fallback = { at: at + 1, from: attempt + 1 };
      underWay.attempt = attempt + 1;
      delete underWay.untilMs;
      progress.record({ AgentFallback: { stage_id: stage.id, agent: next, error: end.summary } }, `${stage.id}/${at}`);
      continue;
    }
    const error = reasonOf(end);
    progress.record({ StageRetrying: { stage_id: stage.id, attempt, error } }, `${stage.id}/try/${attempt}`);
    noteFailure(node, underWay, attempt);
  }
}

function promptOf(node: GraphNode, { goal, values }: StageContext): string {
  const prompt = fillIn(node.prompt ?? node.agent?.task ?? '', goal, values.all());
  if (prompt.length > maxPromptCharacters) {
    throw new Error(`The prompt has more than ${maxPromptCharacters} characters once its values are in it.`);
  }
  return prompt;
}

function launchOf(
  { id, label }: GraphNode,
  { task, repository, agent, fallbacks = [], profile, sandbox, model, phase, commits }: AgentNode,
  { prompt, run: { runId }, stage, fallback }: { prompt: string; run: StageContext; stage: Stage; fallback: number },
): Omit<AgentLaunch, 'key'> {
  const chosen = fallback === 0 ? agent : fallbacks[fallback - 1];
  const made = {
    title: stage.name || label || id,
    description: prompt,
    ...(repository !== undefined && { repository }),
  };
  const known = stage.agent?.task_id ?? (task === undefined ? undefined : prompt);
  return {
    ...{ runId, stageId: stage.id, task: known === undefined ? made : { id: known } },
    ...(chosen !== undefined && { agent: chosen }),
    ...(profile !== undefined && { profile }),
    ...(sandbox !== undefined && { sandbox }),
    ...(model !== undefined && { model }),
    ...(phase !== undefined && { phase }),
    ...(commits !== undefined && { commits }),
  };
}

const reasonOf = ({ status, summary }: AgentEnd): string => cut(`Its agent ended as ${status}: ${summary}`, 1_000);

function ended(
  { id }: GraphNode,
  end: AgentEnd,
  { run: { values }, stage, retries }: { run: StageContext; stage: Stage; retries: number },
): Worked {
  const { status, summary, commit = '' } = end;
  const { task_id = '', attempt_id = '' } = stage.agent ?? {};
  values.set({
    ...{ [`${id}_output`]: summary, last_output: summary, [`${id}_status`]: status, [`${id}_commit`]: commit },
    ...{ [`${id}_task`]: task_id, [`${id}_attempt`]: attempt_id },
  });
  const reported = { retries, notes: cut(summary, 200), ...(stage.usage && { usage: stage.usage }) };
  if (status === 'success') {
    return { outcome: { outcome: 'success' }, reported };
  }
  const reason = reasonOf(end);
  return { outcome: { outcome: 'fail', reason }, reported: { ...reported, failure_reason: reason } };
}
