/**
 * Restricts Stryker to the code that decides whether something may happen: conditions, and the filters of compare-and-set
 * writes. Stryker has no mutator that drops one property of a filter, which is how a fence is usually lost, and no way
 * to add one: its list of mutators is changed in place, and a version that has no such list is refused.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const requireFromCore = createRequire(createRequire(import.meta.url).resolve('@stryker-mutator/core'));
const instrumenter = dirname(requireFromCore.resolve('@stryker-mutator/instrumenter/package.json'));
const { allMutators } = await import(pathToFileURL(join(instrumenter, 'dist/src/mutators/mutate.js')).href);
const { default: babel } = await import(pathToFileURL(requireFromCore.resolve('@babel/core')).href);
const { types } = babel;

const writes = new Set(['findOneAndUpdate', 'updateMany', 'deleteMany']);

/** The name of the method that a call calls: `findOneAndUpdate` in `attempts.findOneAndUpdate(…)`. */
const methodOf = (call) =>
  types.isMemberExpression(call.callee) && types.isIdentifier(call.callee.property)
    ? call.callee.property.name
    : types.isIdentifier(call.callee)
      ? call.callee.name
      : undefined;

const isFilterOfWrite = (path) =>
  path.isObjectExpression() &&
  path.parentPath?.isCallExpression() === true &&
  path.key === 0 &&
  path.listKey === 'arguments' &&
  writes.has(methodOf(path.parentPath.node));

const isId = (property) =>
  types.isObjectProperty(property) && types.isIdentifier(property.key) && property.key.name === '_id';

/** Drops one condition of the filter of a compare-and-set after the other. */
const filterConditionMutator = {
  name: 'FilterCondition',
  *mutate(path) {
    if (!isFilterOfWrite(path)) {
      return;
    }
    const { properties } = path.node;
    for (const [at, property] of properties.entries()) {
      if (isId(property)) {
        continue;
      }
      yield types.objectExpression(properties.filter((_, other) => other !== at).map((each) => types.cloneNode(each)));
    }
  },
};

/** `!x` for `x` in conditions; literal `true` and `false` are mostly data. */
const negationMutator = {
  name: 'Negation',
  *mutate(path) {
    if (path.isUnaryExpression({ operator: '!' }) && path.parentPath?.isLogicalExpression() === true) {
      yield types.cloneNode(path.node.argument);
    }
  },
};

/** The test of `a ? b : c`, which Stryker's own mutator of conditions leaves alone when it is no comparison. */
const choiceMutator = {
  name: 'Choice',
  *mutate(path) {
    if (path.key !== 'test' || path.parentPath?.isConditionalExpression() !== true) {
      return;
    }
    if (path.isBinaryExpression() || path.isLogicalExpression()) {
      return;
    }
    yield types.booleanLiteral(true);
    yield types.booleanLiteral(false);
  },
};

const wanted = new Set(['ConditionalExpression', 'LogicalOperator']);

/** Whether a condition only decides which fields an object has: `...(note === undefined ? {} : { note })`. */
const isShape = (path) => {
  const choice = path.findParent((parent) => !parent.isLogicalExpression() && !parent.isUnaryExpression());
  const test = choice?.isConditionalExpression() || choice?.isBinaryExpression() ? choice : undefined;
  return path.findParent((parent) => parent.isSpreadElement() && parent.get('argument') === (test ?? path)) !== null;
};

/** Methods that read for lists and figures: what they leave out is tested where lists are, and guards nothing. */
const readers = new Set(['list', 'inspect', 'sumsOfTree', 'runsOn', 'presentAttempt']);
const isRead = (path) =>
  path.findParent(({ node }) => readers.has(node.key?.name ?? (types.isVariableDeclarator(node) && node.id.name))) !==
  null;

/** The mutator for conditions that guard something. */
const guarding = ({ name, mutate }) => ({
  name,
  *mutate(path) {
    if (!isShape(path) && !isRead(path)) {
      yield* mutate(path);
    }
  },
});

/** @throws Error when this version of Stryker has its mutators elsewhere */
export function mutateGuardsOnly() {
  const own = Array.isArray(allMutators) ? allMutators.filter(({ name }) => wanted.has(name)) : [];
  if (own.length !== wanted.size) {
    throw new Error('This version of Stryker keeps its mutators elsewhere.');
  }
  const guards = [...own, negationMutator, choiceMutator].map(guarding);
  allMutators.splice(0, allMutators.length, ...guards, filterConditionMutator);
}
