import type { ToolStep } from '../../contracts/runs/workflows/definition';
import { compact } from '../../platform/json/compact';
import type { GraphNode } from '../../services/workflow-runs/graph/graph';
import { graphText } from './templates';

/** The node that calls the tool of a step. */
export function toolNode({ id, name, server, tool, idempotent, ...step }: ToolStep): GraphNode {
  const { retry = 0, retry_delay_ms: retryDelayMs } = step.on_fail ?? {};
  return {
    ...{ id, kind: 'tool', label: name ?? id, maxRetries: retry },
    ...compact({ retryDelayMs, timeoutMs: step.timeout === undefined ? undefined : step.timeout * 1_000 }),
    tool: {
      ...{ server, tool, arguments: graphValue(step.arguments ?? {}) as Record<string, unknown> },
      ...(idempotent === true && { idempotent }),
    },
  };
}

/** A JSON value whose texts are in the language of graphs. */
function graphValue(value: unknown): unknown {
  if (typeof value === 'string') {
    return graphText(value);
  }
  if (Array.isArray(value)) {
    return value.map(graphValue);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, graphValue(each)]))
    : value;
}
