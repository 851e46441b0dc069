import type { WorkflowDryRun } from '../../../contracts/runs/workflows/authoring';
import type { WorkflowDefinition, WorkflowVariables } from '../../../contracts/runs/workflows/definition';
import { graphIssues } from '../../../domain/workflows/check';
import { compileDefinition } from '../../../domain/workflows/compile';
import { variablesOf } from '../../../domain/workflows/variables';
import { compact } from '../../../platform/json/compact';

const isKnown = (values: WorkflowVariables, name: string): boolean => Object.hasOwn(values, name);

/** A text of the graph with the values that a run begins with. */
const withKnown = (text: string, values: WorkflowVariables): string =>
  text.replace(/\$\$|\$\{([a-z0-9_.-]+)\}/g, (match, name: string | undefined) =>
    match === '$$' ? '$' : name !== undefined && isKnown(values, name) ? String(values[name]) : match,
  );

/** What a run of a definition would do with these values. */
export function dryRun(definition: WorkflowDefinition, context: WorkflowVariables | undefined): WorkflowDryRun {
  const read = variablesOf(definition, context);
  if ('issues' in read) {
    return { valid: false, issues: read.issues, nodes: [], edges: [] };
  }
  const compiled = compileDefinition(definition, read.values);
  const issues = graphIssues(compiled);
  if (issues.length > 0) {
    return { valid: false, issues, nodes: [], edges: [] };
  }
  const stepOf = new Map(
    Object.entries(compiled.nodesOf).flatMap(([step, ids]) => ids.map((id) => [id, step] as const)),
  );
  return {
    valid: true,
    issues: [],
    nodes: Object.values(compiled.graph.nodes).map(({ id, kind, label, launch, question, write }) => {
      const text = launch?.input ?? question?.text ?? write?.content;
      return {
        ...{ id, stepId: stepOf.get(id) ?? null, kind, label },
        ...compact({ agent: launch?.agent, input: text === undefined ? undefined : withKnown(text, read.values) }),
      };
    }),
    edges: compiled.graph.edges.map(({ from, to, label }) => ({ from, to, ...compact({ label }) })),
  };
}
