import type { LaunchingStep, WorkflowDefinition, WorkflowStep } from '../../contracts/runs/workflows/definition';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import type { GraphNode } from '../../services/workflow-runs/graph/graph';
import { schemaOf } from './schemas';
import { graphText } from './templates';

/** The node that launches the agent of a step. */
export function launchNode(
  step: LaunchingStep,
  { id, definition, items = {} }: { id: string; definition: WorkflowDefinition; items?: Record<string, string> },
): Omit<GraphNode, 'maxRetries'> & { maxRetries: number } {
  const { agent: type, id: agentId, model } = definition.agents.find((agent) => agent.id === step.agent) ?? {};
  const agent = type ?? agentId;
  const { retry = 0, retry_delay_ms: retryDelayMs } = step.on_fail ?? {};
  const label = step.name ?? step.id;
  const schema = schemaOf(step, definition);
  return {
    ...{ id, kind: 'launch', label, maxRetries: retry },
    ...compact({ retryDelayMs, timeoutMs: step.timeout === undefined ? undefined : step.timeout * 1_000 }),
    launch: {
      stepId: step.id,
      title: cut(`${definition.name}: ${label}`, 200),
      ...compact({
        input: textOf(step, { items, schema }),
        agent: agent === 'auto' ? undefined : agent,
        model,
        phase: step.phase,
        outputFile: step.output?.file,
        outputSchema: schema,
        session: sessionOf(step, definition),
      }),
    },
  };
}

/** Whose session a step has, in a definition that continues any. */
function sessionOf(
  { agent, session }: LaunchingStep,
  { steps }: WorkflowDefinition,
): NonNullable<GraphNode['launch']>['session'] {
  const isAny = steps.some((step) => continuesSession(step));
  return isAny ? { agent, ...(session?.mode === 'continue' && { isContinued: true }) } : undefined;
}

/** Whether a step continues a session; branches of a parallel step never do. */
export const continuesSession = (step: WorkflowStep): boolean => 'session' in step && step.session?.mode === 'continue';

/** What asks an agent for a summary that fits a schema. */
export const reportBy = (schema: object): string =>
  `Report as your summary JSON that fits this JSON schema, and nothing else:\n\n\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``;

/** The text of a step with its criteria and its file; `undefined` for one that works on the task of the run as it is. */
function textOf(
  { input, acceptance_criteria: criteria = [], output }: LaunchingStep,
  { items, schema }: { items: Record<string, string>; schema: object | undefined },
): string | undefined {
  if (input === undefined) {
    return undefined;
  }
  const accepted = criteria.map((criterion) => `- ${graphText(criterion, items)}`);
  return [
    graphText(input, items),
    ...(accepted.length > 0 ? [`Acceptance criteria:\n${accepted.join('\n')}`] : []),
    ...(output?.file === undefined ? [] : [`Write the result to \`${graphText(output.file)}\`.`]),
    ...(schema ? [graphText(reportBy(schema))] : []),
  ].join('\n\n');
}
