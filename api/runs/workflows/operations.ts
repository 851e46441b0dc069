import type { WorkflowIssue, WorkflowSource } from '../../../contracts/runs/workflows/authoring';
import {
  definitionLimits,
  type Workflow,
  type WorkflowDefinition,
  type WorkflowRights,
} from '../../../contracts/runs/workflows/definition';
import { rightsOf, type WorkflowCaller } from '../../../domain/workflows/access';
import { checkDefinition, type CheckedDefinition } from '../../../domain/workflows/check';
import { AppError, notFound, validationError } from '../../../platform/errors/app-error';
import { DocumentError, readDocument } from '../../../platform/yaml/document';
import type { WorkflowRecord, WorkflowStore } from '../../../stores/runs/workflows/workflow-store';

export const tag = 'workflows';

/** @throws AppError 404 for a workflow that the caller may not see either; 403 for one that it may see and not `need` */
export async function findWorkflow(
  workflows: Pick<WorkflowStore, 'get'>,
  id: string,
  { caller, need }: { caller: WorkflowCaller; need: keyof WorkflowRights },
): Promise<WorkflowRecord> {
  const record = await workflows.get(id);
  const rights = record && rightsOf(record.access, caller);
  if (!record || !rights?.view) {
    throw notFound('workflow', id);
  }
  if (!rights[need]) {
    const message = `The access of the workflow lets you not ${need} it. Its owner can change that.`;
    throw new AppError('WORKFLOW_ACCESS_DENIED', { status: 403, message, details: { workflowId: id, rights } });
  }
  return record;
}

export const present = ({
  definition,
  version,
  updatedBy,
  revision,
  createdAt,
  updatedAt,
}: WorkflowRecord): Workflow => ({
  ...definition,
  ...{ version, revision, createdAt, updatedAt, updatedBy },
});

/** A definition as its caller wrote it, or why its text is none. */
export function readSource({ definition, yaml }: WorkflowSource): CheckedDefinition {
  if (definition !== undefined) {
    return tooLong(definition) ?? checkDefinition(definition);
  }
  try {
    return checkDefinition(readDocument(yaml ?? ''));
  } catch (error) {
    if (error instanceof DocumentError) {
      return { issues: [{ path: 'yaml', message: error.message }] };
    }
    throw error;
  }
}

function tooLong(written: object): { issues: WorkflowIssue[] } | undefined {
  const { length } = JSON.stringify(written);
  const { characters } = definitionLimits;
  return length > characters
    ? { issues: [{ path: '', message: `has ${length} characters as JSON, at most ${characters} are stored` }] }
    : undefined;
}

/** @throws AppError 400 with every issue */
export function accepted(checked: CheckedDefinition): WorkflowDefinition {
  if ('issues' in checked) {
    throw validationError(checked.issues, 'The workflow cannot be run');
  }
  return checked.definition;
}

/** @throws AppError 400 with every issue of a body that has the shape of a definition */
export const acceptedBody = (definition: WorkflowDefinition): WorkflowDefinition =>
  accepted(tooLong(definition) ?? checkDefinition(definition));
