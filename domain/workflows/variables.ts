import type { WorkflowIssue } from '../../contracts/runs/workflows/authoring';
import type { WorkflowDefinition, WorkflowVariables } from '../../contracts/runs/workflows/definition';

/** The values that a run begins with, or what is wrong with those that its caller gives. */
export function variablesOf(
  { variables = {} }: WorkflowDefinition,
  context: WorkflowVariables = {},
): { values: WorkflowVariables } | { issues: WorkflowIssue[] } {
  const issues = Object.entries(context).flatMap(([name, value]) => {
    const path = `context.${name}`;
    if (!Object.hasOwn(variables, name)) {
      return [{ path, message: 'is not in variables of the workflow' }];
    }
    return Array.isArray(value) === Array.isArray(variables[name])
      ? []
      : [{ path, message: Array.isArray(value) ? 'must be one value' : 'must be a list' }];
  });
  return issues.length > 0 ? { issues } : { values: { ...variables, ...context } };
}
