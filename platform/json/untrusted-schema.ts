import { createContext, runInContext } from 'node:vm';
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2019 from 'ajv/dist/2019';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { JsonLimitError, parseBoundedJson } from './bounded';

/** A JSON schema that cannot be used, or that takes too long; the message is a sentence without its period. */
export class UntrustedSchemaError extends Error {
  override readonly name = 'UntrustedSchemaError';
}

/** What is wrong with a value: where, and why. */
export interface SchemaIssue {
  path: string;
  message: string;
}

/** How long a schema may take to be compiled, and then to check one value, in milliseconds. */
const limits = { compileMs: 1_000, checkMs: 500, depth: 32, values: 5_000, nameLength: 200, issues: 20 } as const;

type Compiler = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/** Functions, since most processes never load one of them. */
const dialects: readonly [RegExp, () => Compiler][] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, () => Ajv2020],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, () => Ajv2019],
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, () => Ajv],
];

/**
 * Compiles a JSON schema of a source that may be hostile: it is bounded, refers to nothing outside of itself, and is interrupted
 * when it takes too long to compile or to check a value, as a pattern that backtracks for ever does.
 *
 * @throws UntrustedSchemaError, as the returned function does for a value that takes too long
 */
export function compileUntrustedSchema(
  schema: Record<string, unknown>,
  { maxBytes }: { maxBytes: number },
): (value: unknown) => SchemaIssue[] {
  assertBounded(schema, maxBytes);
  const { $schema: dialect, ...rest } = schema;
  const name = typeof dialect === 'string' ? dialect : JSON.stringify(dialect);
  const Dialect = dialect === undefined ? Ajv2020 : dialects.find(([known]) => known.test(name))?.[1]();
  if (!Dialect) {
    throw new UntrustedSchemaError(`it is of a dialect that is not supported: ${name.slice(0, 200)}`);
  }
  const ajv = compilerOf(Dialect);
  const validate = interruptible(limits.compileMs, 'it takes too long to compile', () => compile(ajv, rest));
  return (value) =>
    interruptible(limits.checkMs, 'it takes too long to check the value', () =>
      validate(value) ? [] : (validate.errors ?? []).slice(0, limits.issues).map(toIssue),
    );
}

/** Why a schema cannot be used; `undefined` for one that can be. */
export function schemaProblem(schema: Record<string, unknown>, bounds: { maxBytes: number }): string | undefined {
  try {
    compileUntrustedSchema(schema, bounds);
    return undefined;
  } catch (error) {
    if (error instanceof UntrustedSchemaError) {
      return error.message;
    }
    throw error;
  }
}

/** The compiler of each dialect: making one takes longer than compiling a schema does. */
const compilers = new Map<Compiler, Ajv>();

function compilerOf(Dialect: Compiler): Ajv {
  const known = compilers.get(Dialect);
  if (known) {
    return known;
  }
  // No schema is stored under its id: it would be there for the next one.
  const ajv = new Dialect({
    strict: false,
    allErrors: false,
    logger: false,
    ownProperties: true,
    addUsedSchema: false,
  });
  addFormats(ajv);
  // Compiles the schema of schemas, which no schema is blamed for.
  void ajv.validateSchema({});
  compilers.set(Dialect, ajv);
  return ajv;
}

function compile(ajv: Ajv, schema: object): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UntrustedSchemaError(`it is no JSON schema: ${reason.slice(0, 500)}`);
  } finally {
    ajv.removeSchema(schema);
  }
}

function assertBounded(schema: Record<string, unknown>, maxBytes: number): void {
  const json = JSON.stringify(schema);
  if (Buffer.byteLength(json) > maxBytes) {
    throw new UntrustedSchemaError(`it has more than ${maxBytes} bytes`);
  }
  try {
    parseBoundedJson(json, limits);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new UntrustedSchemaError(error.message.replace(/\.$/, ''));
    }
    throw error;
  }
  if (schema.$async !== undefined) {
    throw new UntrustedSchemaError('it has $async');
  }
}

const toIssue = ({ instancePath, message }: ErrorObject): SchemaIssue => ({
  path: instancePath,
  message: message ?? 'is not valid',
});

const sandbox: { work: () => unknown } = { work: () => undefined };
const context = createContext(sandbox);

/** Runs what is synchronous, and interrupts it after so many milliseconds. */
function interruptible<T>(timeout: number, late: string, work: () => T): T {
  const before = sandbox.work;
  sandbox.work = work;
  try {
    return runInContext('work()', context, { timeout }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new UntrustedSchemaError(late);
    }
    throw error;
  } finally {
    sandbox.work = before;
  }
}
