import type { WorkflowIssue } from '../../contracts/runs/workflows/authoring';
import { type WorkflowDefinition, workflowDefinition } from '../../contracts/runs/workflows/definition';
import { cut } from '../../platform/text/cut';
import { graphLimits } from '../../services/workflow-runs/graph/graph';
import { structureProblems } from '../../services/workflow-runs/graph/structure';
import { type CompiledDefinition, compileDefinition } from './compile';
import { definitionIssues } from './lint';

/** So many issues of a definition are reported. */
const maxIssues = 50;

/** A definition without issues, or why it is none. */
export type CheckedDefinition = { definition: WorkflowDefinition } | { issues: WorkflowIssue[] };

/** Checks all of a definition: its shape, its names, and whether it compiles to a graph that can run. */
export function checkDefinition(written: unknown): CheckedDefinition {
  const parsed = workflowDefinition.safeParse(written);
  if (!parsed.success) {
    const issues = parsed.error.issues.flatMap((issue) => {
      const path = issue.path.map(String).join('.');
      return issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            path: [...issue.path.map(String), key].join('.').slice(0, 200),
            message: 'is not supported',
          }))
        : [{ path: path.slice(0, 200), message: cut(issue.message, 500) }];
    });
    return { issues: issues.slice(0, maxIssues) };
  }
  const definition = parsed.data;
  const issues = definitionIssues(definition);
  const all = issues.length > 0 ? issues : graphIssues(compileDefinition(definition));
  return all.length > 0 ? { issues: all.slice(0, maxIssues) } : { definition };
}

/** What keeps a compiled graph from running. */
export function graphIssues({ graph }: CompiledDefinition): WorkflowIssue[] {
  const nodes = Object.keys(graph.nodes).length;
  if (nodes > graphLimits.nodes || graph.edges.length > graphLimits.edges) {
    const message = `With its loops unrolled it has ${nodes} nodes and ${graph.edges.length} edges; ${graphLimits.nodes} and ${graphLimits.edges} are run.`;
    return [{ path: 'steps', message }];
  }
  const bytes = Buffer.byteLength(JSON.stringify(graph));
  if (bytes > graphLimits.bytes) {
    return [{ path: 'steps', message: `Compiled it has ${bytes} bytes; ${graphLimits.bytes} are run.` }];
  }
  return structureProblems(graph).map((message) => ({ path: 'steps', message }));
}
