import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { files } from './repository';

const root = join(__dirname, '..', '..');

const sources = (folders: readonly string[]): string[] =>
  files.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)) && /(?<!\.test)\.ts$/.test(file));

const tests = files.filter((file) => /^test\/.*\.ts$|\.test\.ts$/.test(file));

/** A text of the sources, with where it stands. */
export interface SourceText {
  where: string;
  text: string;
}

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** The text of a literal; what a template inserts is left out. */
function literalText(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) {
    return node.text;
  }
  if (!ts.isTemplateExpression(node)) {
    return undefined;
  }
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
}

/** The literals that a call of a logger has as its message: pino takes it second, Temporal's logger first. */
function messagesOf(node: ts.Node): ts.Expression[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) {
    return [];
  }
  const { expression: receiver, name } = node.expression;
  return levels.has(name.text) && /log(ger)?$/i.test(receiver.getText()) ? [...node.arguments] : [];
}

function summaryOf(node: ts.Node): ts.Expression[] {
  return ts.isPropertyAssignment(node) && node.name.getText() === 'summary' ? [node.initializer] : [];
}

function collect(paths: readonly string[], select: (node: ts.Node) => ts.Expression[]): SourceText[] {
  return paths.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    const found: SourceText[] = [];
    const visit = (node: ts.Node): void => {
      for (const expression of select(node)) {
        const text = literalText(expression);
        const line = source.getLineAndCharacterOfPosition(expression.getStart()).line + 1;
        if (text !== undefined) {
          found.push({ where: `${file}:${line}`, text });
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

/** The title of a `describe`, `it` or `test`, also of one with a table. */
function titleOf(node: ts.Node): ts.Expression[] {
  const callee = ts.isCallExpression(node) ? /^(?:describe|it|test)\b/.exec(node.expression.getText()) : null;
  const title = ts.isCallExpression(node) ? node.arguments[0] : undefined;
  return callee && title ? [title] : [];
}

/** Every title of a test. */
export const testTitles = (): SourceText[] => collect(tests, titleOf);

/** Every log message that the sources of the folders state as a literal. */
export const logMessages = (folders: readonly string[]): SourceText[] => collect(sources(folders), messagesOf);

/** Every summary that the route files of the folders state as a literal. */
export const routeSummaries = (folders: readonly string[]): SourceText[] =>
  collect(sources(folders), summaryOf).filter(({ where }) => /\/routes[.\w]*\.ts:/.test(where));

/** Every line of a comment in the sources of the folders. */
export const comments = (folders: readonly string[]): SourceText[] =>
  sources(folders).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((text, index) => ({ where: `${file}:${index + 1}`, text: text.trim() }))
      .filter(({ text }) => /^(?:\/\/|\/\*|\*)/.test(text)),
  );

/** Every text with a space that the sources of the folders state: errors, findings, remedies. */
export const texts = (folders: readonly string[]): SourceText[] =>
  collect(sources(folders), (node) => (ts.isExpression(node) && isText(node) ? [node] : []));

const isText = (node: ts.Expression): boolean => /\s/.test(literalText(node)?.trim() ?? '');
