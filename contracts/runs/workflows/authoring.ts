import { z } from 'zod';
import { slug, text } from '../../common';
import { definitionLimits, workflowDefinition, workflowId, workflowVariables } from './definition';

/** One thing that is wrong with a definition, and where. */
export const workflowIssue = z.object({ path: z.string(), message: z.string() }).meta({ id: 'WorkflowIssue' });
export type WorkflowIssue = z.infer<typeof workflowIssue>;

const written = {
  /** The definition as an object. */
  definition: z.record(z.string().max(64), z.unknown()).optional(),
  /** The definition as text, in YAML or JSON. */
  yaml: text(definitionLimits.characters).optional(),
};
const oneOfBoth = ({ definition, yaml }: { definition?: unknown; yaml?: unknown }): boolean =>
  (definition === undefined) !== (yaml === undefined);
const needsOne = { path: ['definition'], message: 'exactly one of definition, yaml is required' };

export const workflowSource = z.strictObject(written).refine(oneOfBoth, needsOne).meta({ id: 'WorkflowSource' });
export type WorkflowSource = z.infer<typeof workflowSource>;

/** A dry run of a definition that is not stored. */
export const workflowDraftDryRun = z
  .strictObject({ ...written, context: workflowVariables.optional() })
  .refine(oneOfBoth, needsOne)
  .meta({ id: 'WorkflowDraftDryRun' });

export const workflowDryRunRequest = z
  .strictObject({ context: workflowVariables.optional() })
  .meta({ id: 'WorkflowDryRunRequest' });

export const workflowLint = z
  .object({ valid: z.boolean(), issues: z.array(workflowIssue) })
  .meta({ id: 'WorkflowLint' });

export const workflowDocument = z
  .object({ definition: workflowDefinition, yaml: z.string() })
  .meta({ id: 'WorkflowDocument' });

/** What a run would do, without doing it. */
export const workflowDryRun = z
  .object({
    valid: z.boolean(),
    issues: z.array(workflowIssue),
    /** The nodes of its graph, as a run visits them; empty while it is not valid. */
    nodes: z.array(
      z.object({
        id: z.string(),
        stepId: z.string().nullable(),
        kind: z.string(),
        label: z.string(),
        agent: z.string().optional(),
        /** Its text with the values that are known; those of earlier steps are left as they are written. */
        input: z.string().optional(),
      }),
    ),
    edges: z.array(z.object({ from: z.string(), to: z.string(), label: z.string().optional() })),
  })
  .meta({ id: 'WorkflowDryRun' });
export type WorkflowDryRun = z.infer<typeof workflowDryRun>;

export const workflowRecipe = z
  .object({ id: slug, name: z.string(), description: z.string(), steps: z.array(z.string()) })
  .meta({ id: 'WorkflowRecipe' });

export const recipeMaterialization = z
  .strictObject({ id: workflowId.optional(), name: text(150, 1).optional(), agent: slug.optional() })
  .meta({ id: 'RecipeMaterialization' });
