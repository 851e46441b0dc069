import { proxyActivities } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { GraphNode, PromptTools } from '../../graph/graph';
import { serversOf } from '../../graph/tool-servers';
import { addedUsage, nothingUsed } from '../../usage/sum';
import type { PromptAnswer, PromptInput } from '../execution/activities';
import type { StageUnderWay } from '../execution/cursor';
import type { StageContext } from '../execution/stages';
import { askModel, promptActivityOptions } from '../stages/ask-model';
import { assertWithinBudget } from '../stages/may-begin';
import { calledTool, catalogOf } from '../stages/tool-call';
import type { ToolEnd } from '../stages/tool-messages';
import type { TalkActivities } from './activities';
import type { AskedCall } from './messages';
import { resultForModel } from './result-for-model';

const { recordToolResult } = proxyActivities<Pick<TalkActivities, 'recordToolResult'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Asks a model that may call tools, makes the calls that it asks for, and asks again, until it answers. */
export async function promptWithTools(
  node: GraphNode,
  { offers, maxTurns }: PromptTools,
  { underWay, run, prompt }: { underWay: StageUnderWay; run: StageContext; prompt: PromptInput },
): Promise<PromptAnswer> {
  const { graph, progress } = run;
  const catalog = await catalogOf({ underWay, run }, Infinity);
  if (typeof catalog !== 'string') {
    throw new Error(catalog?.reason ?? 'The tool catalog of the run was not opened in time.');
  }
  const talk = (underWay.talk ??= { turn: 1, at: 0, retries: 0, used: nothingUsed });
  for (;;) {
    const { turn, used } = talk;
    const tokens = progress.used.tokens + used.input_tokens + used.output_tokens;
    assertWithinBudget(node, { graph, progress: { used: { tokens, cost: progress.used.cost + (used.cost ?? 0) } } });
    const input = { turn, isLast: turn >= maxTurns, offers, servers: serversOf(graph) };
    const { runPromptTurn } = proxyActivities<Pick<TalkActivities, 'runPromptTurn'>>(
      promptActivityOptions(node, `turn ${turn} of ${prompt.stageId}`),
    );
    const ask = (asked: PromptInput) => runPromptTurn({ ...asked, ...input });
    const answer = await askModel(node, { ...run, underWay, ask }, prompt);
    for (const call of answer.calls.slice(talk.at)) {
      await makeCall(call, { underWay, run, turn });
      talk.at += 1;
    }
    talk.used = addedUsage(used, answer.usage);
    talk.retries += answer.retries;
    if (answer.calls.length === 0) {
      delete underWay.talk;
      return { ...answer, usage: talk.used, retries: talk.retries };
    }
    talk.turn += 1;
    talk.at = 0;
    // The next turn has attempts of its own.
    delete underWay.attempt;
    delete underWay.untilMs;
    if (underWay.fallback) {
      underWay.fallback.from = 1;
    }
  }
}

/** Makes one call, whose result is for the model: a refused call too. */
async function makeCall(
  { id: callId, server, tool, arguments: values, problem }: AskedCall,
  { underWay, run, turn }: { underWay: StageUnderWay; run: StageContext; turn: number },
): Promise<void> {
  const { runId, progress } = run;
  const { stage } = underWay;
  let end: ToolEnd = { status: 'refused', ...(problem !== undefined && { reason: problem }) };
  if (problem === undefined) {
    underWay.tool ??= {};
    const operation = `${stage.id}/turn ${turn}/${underWay.talk?.at ?? 0}`;
    end = await calledTool({ server, tool, arguments: values }, { underWay, run, operation });
    delete underWay.tool;
    progress.noteTool(stage, undefined);
  }
  const { status, reason = '' } = end;
  const { content, isError } = resultForModel(end);
  await recordToolResult({ runId, stageId: stage.id, turn, callId, content, isError });
  const named = cut(`${server}/${tool}`, 400);
  progress.record(
    { ToolEnded: { stage_id: stage.id, tool: named, status, ...(isError && { reason: cut(reason, 500) }) } },
    `${stage.id}/${turn}.${underWay.talk?.at ?? 0}`,
  );
  await progress.flush();
}
