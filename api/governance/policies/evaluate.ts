import { taskId } from '../../../contracts/common';
import type { PolicyQuestion } from '../../../contracts/governance/policy';
import { compact } from '../../../platform/json/compact';
import { evaluatePolicies, outcomes } from '../../../stores/governance/policy-evaluation';
import type { ApiContext } from '../../context';

export type PolicyEvaluationContext = Pick<ApiContext, 'policies' | 'rates' | 'agentPermissions' | 'traces'>;

/** Evaluates a question as the decision point does (stores/governance/decision-point.ts), and writes that down. */
export async function evaluateQuestion(context: PolicyEvaluationContext, question: PolicyQuestion) {
  const { agent, actionType, metadata, preview } = question;
  const level = agent === undefined ? undefined : (await context.agentPermissions.get(agent)).level;
  const { evaluatedRules, ...verdict } = await evaluatePolicies(
    context,
    { ...question, ...compact({ level }) },
    { counting: preview ? 'preview' : 'each', all: true },
  );
  const task = taskId.safeParse(metadata?.['taskId']);
  const traceId = await context.traces.record({
    kind: 'policy',
    outcome: outcomes[verdict.decision],
    title: `${actionType}: ${verdict.decision}`,
    summary: `${evaluatedRules.length} policies were evaluated; ${verdict.matches.length} of their rules hold.`,
    ...(verdict.decision === 'block' ? { remediation: `See the policies ${verdict.blockedBy.join(', ')}.` } : {}),
    subject: {
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(task.success ? { taskId: task.data } : {}),
      actionType,
    },
    evaluatedRules,
    raw: { question },
  });
  return { ...verdict, traceId };
}
