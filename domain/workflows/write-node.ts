import type { OutputTarget } from '../../contracts/runs/workflows/definition';
import { cut } from '../../platform/text/cut';
import type { GraphNode } from '../../services/workflow-runs/graph/graph';
import { graphText } from './templates';

/** The node that writes what a run has come to. */
export function writeNode(
  { content = '{{last_output}}', ...to }: OutputTarget,
  id: string,
): Omit<GraphNode, 'maxRetries'> {
  const label = to.type === 'comment' ? 'Comment on the task' : `Write ${to.path}`;
  return { id, kind: 'write', label: cut(label, 200), write: { to, content: graphText(content) } };
}
