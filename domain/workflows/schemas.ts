import type { LaunchingStep, WorkflowDefinition } from '../../contracts/runs/workflows/definition';

/** The JSON schema that the output of a step has to fit, its own or one that it names; absent where there is none. */
export function schemaOf(
  { output }: Pick<LaunchingStep, 'output'>,
  { schemas = {} }: Pick<WorkflowDefinition, 'schemas'>,
): Record<string, unknown> | undefined {
  const { schema } = output ?? {};
  if (typeof schema !== 'string') {
    return schema;
  }
  return Object.hasOwn(schemas, schema) ? schemas[schema] : undefined;
}
