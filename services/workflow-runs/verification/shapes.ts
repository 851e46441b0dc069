import { z } from 'zod';
import { slug, text } from '../http/fields';

/** What a control found, or a criterion comes to: the one enum for all of them. */
export const result = z.enum(['pass', 'fail', 'skip', 'na']).meta({ id: 'VerificationResult' });
export type Result = z.infer<typeof result>;

const controlType = z.enum(['ai', 'automated', 'analysis', 'ai-analysis']);
/** `evaluate`: its results are stored and do not count; `disabled`: it has none. */
const controlMode = z.enum(['active', 'evaluate', 'disabled']);

const name = text(200);
const prose = text(10_000, 0);

/** A question that is asked of every run, as it is configured. */
export const criterionInput = z.strictObject({ name, question: text(2_000) });
export type CriterionInput = z.infer<typeof criterionInput>;

/** One way to answer a criterion's question, as it is configured. */
export const controlInput = z.strictObject({
  name,
  description: prose,
  type: controlType,
  mode: controlMode.default('active'),
  criterion: slug.meta({ description: 'The criterion it belongs to.' }),
  rationale: prose.default(''),
  checks: z.array(text(2_000)).max(100).default([]),
  pass_example: prose.default(''),
  fail_example: prose.default(''),
});
export type ControlInput = z.output<typeof controlInput>;

const measured = z.object({
  f1: z.number().optional(),
  pass_at_1: z.number().optional(),
  /** The newest first. */
  evaluations: z.array(result).optional(),
});
export type Measured = z.infer<typeof measured>;

const controlHead = z.object({ name: z.string(), slug: z.string(), type: controlType });
const controlSummary = controlHead.extend({ description: z.string(), mode: controlMode, ...measured.shape });
const criterionName = z.object({ name: z.string(), slug: z.string() });

export const criterion = criterionName
  .extend({ question: z.string(), controls: z.array(controlSummary) })
  .meta({ id: 'VerificationCriterion' });

export const controlItem = controlSummary
  .omit({ evaluations: true })
  .extend({ criterion: criterionName })
  .meta({ id: 'VerificationControl' });

export const controlDetail = z
  .object({
    control: controlHead.extend({ description: z.string(), criterion: criterionName }),
    performance: measured.extend({ mode: controlMode, evaluations: z.array(result) }),
    control_detail: z.object({
      rationale: z.string(),
      checks: z.array(z.string()),
      pass_example: z.string(),
      fail_example: z.string(),
    }),
    recent_results: z.array(
      z.object({
        run: z.object({ id: z.string(), title: z.string() }),
        workflow: z.object({ slug: z.string() }),
        result,
        timestamp: z.string(),
      }),
    ),
    siblings: z.array(controlHead.extend({ mode: controlMode })),
  })
  .meta({ id: 'VerificationControlDetail' });

/** What a caller found when it put a control to a run. */
export const resultInput = z.strictObject({
  status: result,
  expected: z.enum(['pass', 'fail']).optional().meta({ description: 'Expected result, if known.' }),
});
export type ResultInput = z.infer<typeof resultInput>;

export const runControl = controlHead.extend({ description: z.string(), status: result });
export const runCriterion = z
  .object({ name: z.string(), question: z.string(), status: result, controls: z.array(runControl) })
  .meta({ id: 'RunVerification' });
