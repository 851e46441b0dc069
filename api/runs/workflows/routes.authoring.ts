import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  recipeMaterialization,
  workflowDocument,
  workflowDraftDryRun,
  workflowDryRun,
  workflowLint,
  workflowRecipe,
  workflowSource,
} from '../../../contracts/runs/workflows/authoring';
import { type WorkflowDefinition, workflowDefinition } from '../../../contracts/runs/workflows/definition';
import { checkDefinition } from '../../../domain/workflows/check';
import { recipes } from '../../../domain/workflows/recipes';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { writeDocument } from '../../../platform/yaml/document';
import { dryRun } from './dry-run';
import { accepted, readSource, tag } from './operations';

const read = { tag, permission: 'workflow:read' } as const;

/** Questions about definitions that are not stored, and definitions to begin with. They change nothing. */
export function workflowAuthoringRoutes(routes: Routes): void {
  routes.add(
    {
      ...read,
      method: 'post',
      path: '/workflows/authoring/lint',
      operationId: 'lintWorkflow',
      summary: 'Check a workflow definition without storing it',
      body: workflowSource,
      response: workflowLint,
    },
    ({ body }) => {
      const checked = readSource(body);
      const issues = 'issues' in checked ? checked.issues : [];
      return Promise.resolve({ valid: issues.length === 0, issues });
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/workflows/authoring/dry-run',
      operationId: 'dryRunWorkflowDraft',
      summary: 'Preview a run of a workflow definition that is not stored',
      body: workflowDraftDryRun,
      response: workflowDryRun,
    },
    ({ body: { context, ...source } }) => {
      const checked = readSource(source);
      return Promise.resolve(
        'issues' in checked
          ? { valid: false, issues: checked.issues, nodes: [], edges: [] }
          : dryRun(checked.definition, context),
      );
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/workflows/authoring/yaml',
      operationId: 'convertWorkflow',
      summary: 'Render a workflow definition as JSON and YAML',
      body: workflowSource,
      response: workflowDocument,
    },
    ({ body }) => {
      const definition = accepted(readSource(body));
      return Promise.resolve({ definition, yaml: writeDocument(definition, 'yaml') });
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/workflows/recipes',
      operationId: 'listWorkflowRecipes',
      summary: 'List recipes of workflows',
      response: z.array(workflowRecipe),
    },
    () =>
      Promise.resolve(
        recipes.map(({ id, description, definition: { name, steps } }) => ({
          ...{ id, name, description },
          steps: steps.map((step) => step.id),
        })),
      ),
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/workflows/recipes/:id/materialize',
      operationId: 'materializeWorkflowRecipe',
      summary: 'Create a workflow definition from a recipe, without storing it',
      params: z.strictObject({ id: slug }),
      body: recipeMaterialization,
      response: workflowDefinition,
      errors: [404],
    },
    ({ params: { id }, body }) => {
      const recipe = recipes.find((each) => each.id === id);
      assertFound(recipe, 'recipe', id);
      const definition: WorkflowDefinition = {
        ...recipe.definition,
        id: body.id ?? recipe.id,
        name: body.name ?? recipe.definition.name,
        agents: [{ id: 'agent', agent: body.agent ?? 'auto' }],
      };
      return Promise.resolve(accepted(checkDefinition(definition)));
    },
  );
}
