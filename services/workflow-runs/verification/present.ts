import type { z } from 'zod';
import { compact } from '../../../platform/json/compact';
import type { Control, Criterion } from './catalog';
import { type Evaluation, measure, together } from './performance';
import type { ResultRecord } from './result-store';
import type { controlDetail, controlItem, criterion, Result, runCriterion } from './shapes';

const maxRecent = 20;

const headOf = ({ name, slug, type }: Control) => ({ name, slug, type });
const summaryOf = (control: Control) => ({
  ...headOf(control),
  description: control.description,
  mode: control.mode,
});

/** The criterion of a control; one that was removed at the same moment goes by its slug. */
const nameOf = ({ criterion: slug }: Control, criteria: readonly Criterion[]) => ({
  name: criteria.find((each) => each.slug === slug)?.name ?? slug,
  slug,
});

/** @param evaluated its controls, each with its evaluations, the newest first */
export const presentCriterion = (
  { name, slug, question }: Criterion,
  evaluated: readonly { control: Control; evaluations: readonly Evaluation[] }[],
): z.infer<typeof criterion> => ({
  name,
  slug,
  question,
  controls: evaluated.map(({ control, evaluations }) => ({ ...summaryOf(control), ...measure(evaluations) })),
});

export function presentControl(
  control: Control,
  criteria: readonly Criterion[],
  results: readonly ResultRecord[],
): z.infer<typeof controlItem> {
  const { f1, pass_at_1 } = measure(results);
  return {
    ...summaryOf(control),
    ...compact({ f1, pass_at_1 }),
    criterion: nameOf(control, criteria),
  };
}

/** @param results what it found last, the newest first */
export function presentControlDetail(
  control: Control,
  { criteria, controls }: { criteria: readonly Criterion[]; controls: readonly Control[] },
  results: readonly ResultRecord[],
): z.infer<typeof controlDetail> {
  const { description, mode, rationale, checks, pass_example, fail_example } = control;
  const siblings = controls.filter(({ criterion, slug }) => criterion === control.criterion && slug !== control.slug);
  return {
    control: { ...headOf(control), description, criterion: nameOf(control, criteria) },
    performance: { mode, evaluations: [], ...measure(results) },
    control_detail: { rationale, checks, pass_example, fail_example },
    recent_results: results.slice(0, maxRecent).map(({ run, title, workflow, result, timestamp }) => ({
      run: { id: run, title },
      workflow: { slug: workflow },
      result,
      timestamp,
    })),
    siblings: siblings.map((sibling) => ({ ...headOf(sibling), mode: sibling.mode })),
  };
}

/** A criterion with what its controls found in one run: `na` until they were put to it. Disabled ones are left out. */
export function presentRunCriterion(
  { name, question }: Criterion,
  controls: readonly Control[],
  results: readonly ResultRecord[],
): z.infer<typeof runCriterion> {
  const statusOf = ({ slug }: Control): Result => results.find(({ control }) => control === slug)?.result ?? 'na';
  const enabled = controls.filter(({ mode }) => mode !== 'disabled');
  return {
    name,
    question,
    status: together(enabled.filter(({ mode }) => mode === 'active').map(statusOf)),
    controls: enabled.map((control) => ({
      ...headOf(control),
      description: control.description,
      status: statusOf(control),
    })),
  };
}
