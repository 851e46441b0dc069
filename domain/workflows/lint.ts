import type { WorkflowIssue } from '../../contracts/runs/workflows/authoring';
import type {
  LaunchingStep,
  LoopStep,
  OutputTarget,
  ToolStep,
  WorkflowDefinition,
  WorkflowStep,
} from '../../contracts/runs/workflows/definition';
import { schemaProblem } from '../../platform/json/untrusted-schema';
import { branchesOf, isIssues, readCondition, templateIssues, type ValueNames, valueNames } from './names';
import { schemaOf } from './schemas';
import { placeholdersOf } from './templates';

/** Schemas are bounded by their contract as well. */
const schemaBounds = { maxBytes: 65_536 };

/** Of the words for a loop over a list, what is no condition. */
const ofLists: readonly string[] = ['all_done', 'first_success'];

/** Everything that is wrong with a definition whose shape is right. */
export function definitionIssues(definition: WorkflowDefinition): WorkflowIssue[] {
  const known = valueNames(definition);
  const ids = definition.steps.flatMap((step) => [step.id, ...branchesOf(step).map(({ id }) => id)]);
  return [
    ...repeated(
      definition.agents.map(({ id }) => id),
      'agents',
    ),
    ...repeated(ids, 'steps'),
    ...Object.entries(definition.schemas ?? {}).flatMap(([name, schema]) => problemOf(schema, `schemas.${name}`)),
    ...definition.steps.flatMap((step, at) => stepIssues(step, { at, known, definition })),
    ...(definition.outputTargets ?? []).flatMap((target, at) => targetIssues(target, at, { known, definition })),
    ...(definition.schedule && definition.steps.some(worksOnTask)
      ? [{ path: 'schedule', message: 'needs an input in every step that launches an agent: its runs have no task' }]
      : []),
  ];
}

/** What is wrong with where a result is written. */
function targetIssues(
  { type, content }: OutputTarget,
  at: number,
  { known, definition }: Omit<Place, 'at'>,
): WorkflowIssue[] {
  const path = `outputTargets.${at}`;
  return [
    ...(content === undefined ? [] : templateIssues(`${path}.content`, { template: content, known })),
    ...(content === undefined && known.outputs.size === 0
      ? [{ path: `${path}.content`, message: 'is required: no step has an output' }]
      : []),
    ...(type === 'comment' && definition.schedule
      ? [{ path: `${path}.type`, message: 'must not be comment with a schedule: its runs have no task' }]
      : []),
  ];
}

const worksOnTask = (step: WorkflowStep): boolean =>
  step.type === 'gate' || step.type === 'tool'
    ? false
    : step.type === 'parallel'
      ? step.parallel.steps.some(({ input }) => input === undefined)
      : step.input === undefined;

const repeated = (ids: readonly string[], path: string): WorkflowIssue[] =>
  [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))].map((id) => ({ path, message: `${id} is there twice` }));

interface Place {
  at: number;
  known: ValueNames;
  definition: WorkflowDefinition;
}

function stepIssues(step: WorkflowStep, place: Place): WorkflowIssue[] {
  const { at, known } = place;
  const path = `steps.${at}`;
  const condition = step.condition === undefined ? [] : conditionIssues(step.condition, `${path}.condition`, known);
  const unused =
    step.condition === undefined && step.on_false !== undefined
      ? [{ path: `${path}.on_false`, message: 'needs a condition' }]
      : [];
  return [...condition, ...unused, ...ownIssues(step, path, place)];
}

function ownIssues(step: WorkflowStep, path: string, place: Place): WorkflowIssue[] {
  switch (step.type) {
    case 'agent':
      return [...launchIssues(step, path, place), ...sessionIssues(step, path, place)];
    case 'loop':
      return [
        ...launchIssues(step, path, { ...place, items: itemsOf(step) }),
        ...sessionIssues(step, path, place),
        ...loopIssues(step, path, place),
      ];
    case 'parallel':
      return [
        ...(step.parallel.completion === 'any' && step.parallel.fail_fast === true ? [anyFast(path)] : []),
        ...step.parallel.steps.flatMap((branch, index) => {
          const at = `${path}.parallel.steps.${index}`;
          const rerouted = branch.on_fail?.retry_step === undefined ? [] : [outOf(`${at}.on_fail.retry_step`)];
          const continued = branch.session?.mode === 'continue' ? [branchOf(`${at}.session.mode`)] : [];
          return [...launchIssues(branch, at, place), ...rerouted, ...continued];
        }),
      ];
    case 'gate':
      return gateIssues(step, path, place);
    case 'tool':
      return toolIssues(step, path, place);
  }
}

const anyFast = (path: string): WorkflowIssue => ({
  path: `${path}.parallel.fail_fast`,
  message: 'needs the completion all: with any, a step that fails leaves the others',
});

const outOf = (path: string): WorkflowIssue => ({
  path,
  message: 'a branch cannot lead out of its parallel step',
});

const branchOf = (path: string): WorkflowIssue => ({
  path,
  message: 'must be fresh in a branch: a session is continued by one step at a time',
});

/** What is wrong with a step that continues the session of an earlier one. */
function sessionIssues(step: LaunchingStep, path: string, { at, definition }: Place): WorkflowIssue[] {
  if (step.session?.mode !== 'continue') {
    return [];
  }
  const isBefore = definition.steps
    .slice(0, at)
    .some((each) => [each, ...branchesOf(each)].some((one) => 'agent' in one && one.agent === step.agent));
  const mode = `${path}.session.mode`;
  return [
    ...(isBefore ? [] : [{ path: mode, message: `no step before it is of the agent ${step.agent}` }]),
    ...(step.input === undefined
      ? [{ path: mode, message: 'needs an input, which is the message that the session continues with' }]
      : []),
  ];
}

function gateIssues(
  { input, condition, timeout, on_false }: Extract<WorkflowStep, { type: 'gate' }>,
  path: string,
  { known }: Place,
): WorkflowIssue[] {
  const asks = condition === undefined || on_false === 'human';
  return [
    ...(input === undefined ? [] : templateIssues(`${path}.input`, { template: input, known })),
    ...(!asks && input !== undefined
      ? [{ path: `${path}.input`, message: 'is for a person, and the gate has a condition' }]
      : []),
    ...(!asks && timeout !== undefined
      ? [{ path: `${path}.timeout`, message: 'nothing is waited for: the gate has a condition' }]
      : []),
  ];
}

function toolIssues(step: ToolStep, path: string, place: Place): WorkflowIssue[] {
  const { arguments: values = {}, tool } = step;
  return [
    ...(placeholdersOf(tool).length > 0
      ? [{ path: `${path}.tool`, message: 'must be written out: only the arguments hold values' }]
      : []),
    ...textsOf(values, `${path}.arguments`).flatMap(([at, template]) =>
      templateIssues(at, { template, known: place.known }),
    ),
    ...failureIssues(step, path, place),
  ];
}

/** The texts in a JSON value, with their paths. */
function textsOf(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') {
    return [[path, value]];
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => textsOf(each, `${path}.${name}`.slice(0, 200)))
    : [];
}

const itemsOf = ({ loop }: LoopStep): string[] => (loop.over === undefined ? [] : [loop.item_var ?? 'item']);

function launchIssues(
  step: LaunchingStep,
  path: string,
  { known, definition, items = [] }: Place & { items?: readonly string[] },
): WorkflowIssue[] {
  const { agent, input, acceptance_criteria: criteria = [] } = step;
  const at = (name: string): string => `${path}.${name}`;
  return [
    ...(definition.agents.some(({ id }) => id === agent)
      ? []
      : [{ path: at('agent'), message: `${agent} is not in agents` }]),
    ...(input === undefined ? [] : templateIssues(at('input'), { template: input, known, items })),
    ...criteria.flatMap((template, index) =>
      templateIssues(at(`acceptance_criteria.${index}`), { template, known, items }),
    ),
    ...schemaIssues(step, path, definition),
    ...(input === undefined && criteria.length > 0
      ? [{ path: at('acceptance_criteria'), message: 'needs an input, with which its agent receives them' }]
      : []),
    ...failureIssues(step, path, { definition }),
  ];
}

/** What is wrong with the schema of an output. */
function schemaIssues({ input, output }: LaunchingStep, path: string, definition: WorkflowDefinition): WorkflowIssue[] {
  const { schema } = output ?? {};
  const at = `${path}.output.schema`;
  const isKnown = typeof schema !== 'string' || schemaOf({ output }, definition) !== undefined;
  return [
    ...(typeof schema === 'object' ? problemOf(schema, at) : []),
    ...(isKnown ? [] : [{ path: at, message: `${schema} is not in schemas` }]),
    ...(schema !== undefined && input === undefined
      ? [{ path: at, message: 'needs an input, with which its agent receives it' }]
      : []),
  ];
}

function problemOf(schema: Record<string, unknown>, path: string): WorkflowIssue[] {
  const problem = schemaProblem(schema, schemaBounds);
  return problem === undefined ? [] : [{ path, message: problem }];
}

/** What is wrong with what follows when a step has failed. */
function failureIssues(
  { on_fail: onFail }: Pick<LaunchingStep, 'on_fail'>,
  path: string,
  { definition }: Pick<Place, 'definition'>,
): WorkflowIssue[] {
  const at = (name: string): string => `${path}.${name}`;
  return [
    ...(onFail?.retry_step !== undefined && !definition.steps.some(({ id }) => id === onFail.retry_step)
      ? [{ path: at('on_fail.retry_step'), message: `${onFail.retry_step} is no step` }]
      : []),
    ...(['max_reroutes', 'on_exhausted'] as const)
      .filter((name) => onFail?.[name] !== undefined && onFail.retry_step === undefined)
      .map((name) => ({ path: at(`on_fail.${name}`), message: 'needs a retry_step' })),
    ...(onFail?.retry_delay_ms !== undefined && !onFail.retry
      ? [{ path: at('on_fail.retry_delay_ms'), message: 'needs retry' }]
      : []),
  ];
}

function loopIssues({ loop, input }: LoopStep, path: string, { known }: Place): WorkflowIssue[] {
  const at = (name: string): string => `${path}.loop.${name}`;
  if (loop.over === undefined) {
    return [
      ...(loop.completion === undefined || ofLists.includes(loop.completion)
        ? [
            {
              path: at('completion'),
              message: 'must be the condition that ends the loop, which has no list to run over',
            },
          ]
        : conditionIssues(loop.completion, at('completion'), known)),
      ...(['item_var', 'continue_on_error'] as const)
        .filter((name) => loop[name] !== undefined)
        .map((name) => ({ path: at(name), message: 'needs over' })),
    ];
  }
  const items = loop.item_var ?? 'item';
  return [
    ...(known.lists.has(loop.over) ? [] : [{ path: at('over'), message: `${loop.over} must be a list in variables` }]),
    ...(loop.completion === undefined || ofLists.includes(loop.completion)
      ? []
      : [{ path: at('completion'), message: `must be one of ${ofLists.join(', ')} with over` }]),
    ...(known.variables.has(items) || known.lists.has(items)
      ? [{ path: at('item_var'), message: `${items} is a variable` }]
      : []),
    ...(input === undefined ? [{ path: `${path}.input`, message: 'is required with over: it holds the item' }] : []),
  ];
}

function conditionIssues(written: string, path: string, known: ValueNames): WorkflowIssue[] {
  const read = readCondition(written, path, known);
  return isIssues(read) ? read : [];
}
