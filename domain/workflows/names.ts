import type { WorkflowIssue } from '../../contracts/runs/workflows/authoring';
import type { LaunchingStep, WorkflowDefinition, WorkflowStep } from '../../contracts/runs/workflows/definition';
import { parseCondition } from '../../services/workflow-runs/graph/condition';
import type { Condition, Expression } from '../../services/workflow-runs/graph/graph';
import { placeholdersOf, stepValue } from './templates';

/** Values that every run has, and those of a run that is for a task. */
const given = ['last_output', 'last_answer', 'task_id', 'task_title', 'task_description'];

/** The steps of a definition that produce values, by what they produce. */
export interface ValueNames {
  variables: ReadonlySet<string>;
  lists: ReadonlySet<string>;
  outputs: ReadonlySet<string>;
  /** Of the outputs, those that may have parts. */
  parted: ReadonlySet<string>;
  answers: ReadonlySet<string>;
}

export const branchesOf = (step: WorkflowStep): readonly LaunchingStep[] =>
  step.type === 'parallel' ? step.parallel.steps : [];

export function valueNames({ steps, variables = {} }: WorkflowDefinition): ValueNames {
  const entries = Object.entries(variables);
  return {
    variables: new Set(entries.filter(([, value]) => !Array.isArray(value)).map(([name]) => name)),
    lists: new Set(entries.filter(([, value]) => Array.isArray(value)).map(([name]) => name)),
    outputs: new Set([
      ...steps.filter(({ type }) => ['agent', 'loop', 'tool'].includes(type)).map(({ id }) => id),
      ...steps.flatMap((step) => branchesOf(step).map(({ id }) => id)),
    ]),
    parted: new Set([
      ...steps.filter(({ type }) => type === 'tool').map(({ id }) => id),
      ...steps
        .flatMap((step) => ('agent' in step ? [step] : branchesOf(step)))
        .filter(({ output }) => output?.schema !== undefined)
        .map(({ id }) => id),
    ]),
    answers: new Set(steps.filter(({ type }) => type === 'gate').map(({ id }) => id)),
  };
}

/** Why a name stands for nothing in a text; `undefined` when it does. */
function whyUnknown(name: string, known: ValueNames, items: readonly string[]): string | undefined {
  const of = stepValue(name);
  if (of) {
    const has = of.kind === 'output' ? known.outputs : known.answers;
    if (!has.has(of.step)) {
      return `{{${name}}}: no step ${of.step} has an ${of.kind}`;
    }
    const hasParts = of.path.length === 0 || (of.kind === 'output' && known.parted.has(of.step));
    return hasParts ? undefined : `{{${name}}}: only outputs with a schema, and those of tools, have parts`;
  }
  if (known.lists.has(name)) {
    return `{{${name}}} is a list, which only loop.over may name`;
  }
  const isKnown = known.variables.has(name) || given.includes(name) || items.includes(name);
  return isKnown ? undefined : `{{${name}}} is neither in variables nor a value of a step`;
}

/** What is wrong with the names in a template. */
export const templateIssues = (
  path: string,
  { template, known, items = [] }: { template: string; known: ValueNames; items?: readonly string[] },
): WorkflowIssue[] =>
  [...new Set(placeholdersOf(template))].flatMap((name) => {
    const message = whyUnknown(name, known, items);
    return message === undefined ? [] : [{ path, message }];
  });

/**
 * A condition in the names that the values of runs have.
 *
 * @returns its issues when it cannot be read or compares what there is not
 */
export function readCondition(written: string, path: string, known: ValueNames): Condition | WorkflowIssue[] {
  const parsed = parseCondition(written);
  if (!parsed) {
    const message = 'must be comparisons such as steps.plan.output contains READY, joined with &&, || and !';
    return [{ path, message }];
  }
  const issues: WorkflowIssue[] = [];
  const renamed = (expression: Expression): Expression => {
    if ('all' in expression) {
      return { all: expression.all.map(renamed) };
    }
    if ('any' in expression) {
      return { any: expression.any.map(renamed) };
    }
    if ('not' in expression) {
      return { not: renamed(expression.not) };
    }
    const { name, path: fields = [], ...rest } = expression;
    const message = whyUnknown([name, ...fields].join('.'), known, []);
    if (message !== undefined) {
      issues.push({ path, message });
    }
    const of = stepValue([name, ...fields].join('.'));
    const parts = of && of.path.length > 0 ? { path: of.path } : {};
    return { name: of ? `${of.step}_${of.kind}` : name, ...parts, ...rest };
  };
  const condition = parsed.map(renamed);
  return issues.length > 0 ? issues : condition;
}

export const isIssues = (read: Condition | WorkflowIssue[]): read is WorkflowIssue[] =>
  read.length > 0 && 'message' in (read[0] ?? {});
