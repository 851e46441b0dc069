import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { parse, stringify } from 'lossless-json';
import { UsageError } from '../failures';
import { oneLine, plain } from '../output/plain';
import { table } from '../output/table';
import type { Surroundings } from '../session';
import { type BitmapClient, bitmapClient } from './bitmap-client';
import { anyOperands, callsOf, operandsOf } from './bitmap-import';
import type { AddCommands } from './command';
import { progressBar } from './run-events';

interface Field {
  name: string;
  options?: { type?: string };
}

interface Index {
  name: string;
  fields?: Field[];
}

/** How many bits one request sets: all of them, or none, are durable when it is answered. */
const batchSize = 1_000;

const names = /^[a-z][a-z0-9_-]{0,63}$/;
const checkedName = (name: string): string => {
  if (!names.test(name)) {
    throw new UsageError(`"${oneLine(name, 70)}" is no name: lower-case letters, digits, dash and underscore.`);
  }
  return name;
};

/** An integer of any size with all of its digits; the service checks that it fits. */
const wholeNumber = (text: string): bigint => {
  if (!/^-?\d{1,40}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return BigInt(text);
};

/** Each result on a line of its own; integers as they came. */
function resultLines(answer: string): string {
  const { results } = parse(answer) as { results: unknown[] };
  return results.map((result) => `${plain(stringify(result) ?? '')}\n`).join('');
}

async function readInput({ input }: Surroundings, file: string | undefined): Promise<string> {
  if (file === undefined || file === '-') {
    return readAll(input);
  }
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** `runboard bitmap`: indexes, create, query and import, of the bitmap index. */
export const bitmapCommands =
  (surroundings: Surroundings): AddCommands =>
  (program, run) => {
    const group = program
      .command('bitmap')
      .description('The bitmap index, a service beside the board')
      .option('--bitmap-url <url>', 'address of the service (RUNBOARD_BITMAP_URL)');
    const service = (signal: AbortSignal): BitmapClient =>
      bitmapClient(surroundings.environment, { url: group.opts<{ bitmapUrl?: string }>().bitmapUrl, signal });

    group
      .command('indexes')
      .description('List indexes with their fields')
      .action(
        run(async (session) => {
          const answer = await service(session.signal).getExactly('/schema');
          const schema = parse(answer) as { indexes?: Index[] | null };
          const rows = (schema.indexes ?? []).flatMap(({ name, fields }) =>
            fields?.length
              ? fields.map((field) => [name, field.name, field.options?.type ?? 'set'])
              : [[name, undefined, undefined]],
          );
          surroundings.output.write(session.isJson ? `${answer}\n` : table(['INDEX', 'FIELD', 'TYPE'], rows));
          return undefined;
        }),
      );

    group
      .command('create')
      .description('Create an index, or a field of one')
      .argument('<index>', 'name of the index')
      .argument('[field]', 'name of the field; without it the index is created')
      .option('--type <type>', 'type of the field: set, int, mutex, bool or time')
      .option('--min <number>', 'of an int field: its lowest value', wholeNumber)
      .option('--max <number>', 'of an int field: its highest value', wholeNumber)
      .option('--time-quantum <units>', 'of a time field: the units that times are kept at, such as YMD or YMDH')
      .option('--keys', 'columns of the index, or rows of the field, have names instead of numbers')
      .action(
        run(
          async (
            session,
            index: string,
            field: string | undefined,
            options: { type?: string; min?: bigint; max?: bigint; timeQuantum?: string; keys?: boolean },
          ) => {
            const path = `/index/${checkedName(index)}${field === undefined ? '' : `/field/${checkedName(field)}`}`;
            await service(session.signal).post(path, { options });
            session.print({ index, ...(field === undefined ? {} : { field }) }, () => `${path.slice(7)}\n`);
            return undefined;
          },
        ),
      );

    group
      .command('query')
      .description('Execute calls on an index, and print the result of each')
      .argument('<index>', 'name of the index')
      .argument('[calls]', 'such as "Count(Row(likes=3))"; read from standard input when absent')
      .action(
        run(async (session, index: string, calls: string | undefined) => {
          const query = calls ?? (await readAll(surroundings.input));
          const answer = await service(session.signal).postExactly(`/index/${checkedName(index)}/query`, query);
          surroundings.output.write(session.isJson ? `${answer}\n` : resultLines(answer));
          return undefined;
        }),
      );

    group
      .command('import')
      .description('Set the bits or values of a file of "column,row" or "column,value" lines')
      .argument('<index>', 'name of the index')
      .argument('<field>', 'name of the field')
      .argument('[file]', 'the file; read from standard input when absent')
      .action(
        run(async (session, index: string, field: string, file: string | undefined) => {
          const names = { index: checkedName(index), field: checkedName(field) };
          const source = await readInput(surroundings, file);
          const client = service(session.signal);
          const operands = operandsOf(await client.getExactly('/schema'), names) ?? anyOperands;
          // All lines are read before the first is sent: one that the service would refuse keeps the others from being set.
          const calls = callsOf(source, field, operands);
          const path = `/index/${index}/query`;
          let changed = 0;
          for (let from = 0; from < calls.length; from += batchSize) {
            const batch = calls.slice(from, from + batchSize);
            const { results } = (await client.post(path, batch.join('\n'))) as { results: unknown[] };
            changed += results.filter((result) => result === true).length;
            if (surroundings.errors.isTTY && !session.isJson) {
              surroundings.errors.write(`\r${progressBar((100 * (from + batch.length)) / calls.length)}`);
            }
          }
          if (surroundings.errors.isTTY && !session.isJson && calls.length > 0) {
            surroundings.errors.write('\n');
          }
          session.print(
            { index, field, lines: calls.length, changed },
            () => `${calls.length} lines, ${changed} changed\n`,
          );
          return undefined;
        }),
      );
  };
