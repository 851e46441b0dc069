import { compact } from '../../../../platform/json/compact';
import type { Attributes } from '../dot';
import type { CommandNode, NodeKind } from '../graph';

const limits = { arguments: 100, characters: 8_000, directory: 500 };
const ofCommands = ['command', 'directory', 'sandbox'] as const;
/** Of these, what agents have as well. */
const ofAgents: ReadonlySet<string> = new Set(['sandbox']);

/** The program of a node; what is wrong with it is passed to `problem`. */
export function commandOf(
  kind: NodeKind,
  attributes: Attributes,
  problem: (message: string) => void,
): CommandNode | undefined {
  if (kind !== 'command') {
    ofCommands
      .filter((name) => attributes.has(name) && !(kind === 'agent' && ofAgents.has(name)))
      .forEach((name) => problem(`${name} is of nodes with type=command, and of maps with each=command, only`));
    return undefined;
  }
  const argv = argumentsOf(attributes.get('command') ?? '');
  if (!argv || argv[0] === undefined || argv[0] === '') {
    problem(
      'a command needs command="program argument …", with quotes around what has spaces, or a JSON list of texts',
    );
    return undefined;
  }
  if (argv[0].includes('$')) {
    problem('the program of a command must be written out: only its arguments hold values');
  }
  if (argv.length > limits.arguments || argv.some(({ length }) => length > limits.characters)) {
    problem(`a command may have ${limits.arguments} arguments with ${limits.characters} characters each`);
  }
  if (argv.some((argument) => argument.includes('\0'))) {
    problem('a command must not contain NUL');
  }
  const directory = attributes.get('directory');
  if (directory !== undefined && !isWithin(directory)) {
    problem('directory must be a path within the workspace, without ..');
  }
  return { argv, ...compact({ directory, sandbox: attributes.get('sandbox') }) };
}

/** Whether the text of a path leads into the workspace: links are checked when it is opened. */
export const isWithin = (path: string): boolean =>
  path.length > 0 && path.length <= limits.directory && !/^\/|\0|\\/.test(path) && !path.split('/').includes('..');

const word = /\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/suy;
const part = /\\(?<escaped>.)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>[^']*)'|(?<plain>[^\\"']+)/gsu;

const unquoted = (argument: string): string =>
  [...argument.matchAll(part)]
    .map(({ groups: { escaped, double, single, plain } = {} }) =>
      double === undefined ? (escaped ?? single ?? plain ?? '') : double.replace(/\\(["\\])/g, '$1'),
    )
    .join('');

/** The arguments of a command as it is written: no shell reads it. `undefined` when a quote has no end. */
function argumentsOf(written: string): string[] | undefined {
  const text = written.trim();
  if (text.startsWith('[')) {
    return jsonList(text);
  }
  const found: string[] = [];
  word.lastIndex = 0;
  while (word.lastIndex < text.length) {
    const [, argument] = word.exec(text) ?? [];
    if (argument === undefined) {
      return undefined;
    }
    found.push(unquoted(argument));
  }
  return found;
}

function jsonList(text: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}
