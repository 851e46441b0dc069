import { relative } from 'node:path';
import type {
  CreateTerminalRequest,
  CreateTerminalResponse,
  ReadTextFileRequest,
  ReadTextFileResponse,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk/unstable';
import { RequestError } from '@agentclientprotocol/sdk/unstable';
import type { RunEventKind } from '../../../../contracts/runs/event';
import { withheldBecause } from '../../../../contracts/settings/withheld-variables';
import { isConfined, type ToolRules, type ToolUse } from '../../../../domain/tools/rules';
import { cut } from '../../../../platform/text/cut';
import { ContainedFileError, type ContainedFiles, pathInWorktree } from './contained-files';
import { argumentOutside, TerminalError, type Terminals } from './terminals';
import { decide } from './tool-gate';

export interface ClientToolsOptions {
  worktreePath: string;
  rules: () => Promise<ToolRules>;
  files: ContainedFiles;
  terminals: Terminals;
  /** What commands see: that of the agent, or without the variables it was given by name. */
  environment(withCredentials: boolean): Record<string, string>;
  /** Asks people what the phase wants an approval of. */
  approve(use: ToolUse, title: string, signal: AbortSignal): Promise<boolean>;
  record(kind: RunEventKind, payload: Record<string, unknown>): Promise<void>;
}

/** What an agent may not do by the rules of its run. */
const refusedCode = -32_003;
/** The protocol's error for a resource that does not exist: some agents write a new file only then. */
const notFoundCode = -32_002;

/**
 * The files and commands that we offer an agent: each use passes through the rules of its run as they are at that moment,
 * and is in the run's log, done or refused.
 */
export class ClientTools {
  constructor(private readonly options: ClientToolsOptions) {}

  async read({ path, line, limit }: ReadTextFileRequest, signal: AbortSignal): Promise<ReadTextFileResponse> {
    const name = 'fs/read_text_file';
    const place = await this.passed({ kind: 'read', names: [name], paths: [this.place(path)] }, path, signal);
    const text = await this.done(name, path, () => this.options.files.read(place));
    await this.record('tool.completed', { name, toolKind: 'read', status: 'completed', paths: [place] });
    return { content: linesOf(text, line ?? 1, limit ?? undefined) };
  }

  async write({ path, content }: WriteTextFileRequest, signal: AbortSignal): Promise<Record<string, never>> {
    const name = 'fs/write_text_file';
    const place = await this.passed({ kind: 'edit', names: [name], paths: [this.place(path)] }, path, signal);
    const status = await this.done(name, path, () => this.options.files.write(place, content));
    await this.record('file.changed', { path: place, status, tool: name });
    return {};
  }

  async createTerminal(request: CreateTerminalRequest, signal: AbortSignal): Promise<CreateTerminalResponse> {
    const name = 'terminal/create';
    const { command, args = [], cwd, env = [], outputByteLimit } = request;
    const title = cut([command, ...args].join(' '), 2_000);
    await this.passed({ kind: 'execute', names: [name], command: { name: command, args } }, title, signal);
    const terminalId = await this.done(name, title, async () => {
      const rules = await this.options.rules();
      const directory = await this.directory(cwd);
      await assertHarmless(rules, { args, directory, env: env.map((variable) => variable.name) });
      const withCredentials = rules.authority?.['credential.access'].scopes.includes('*') ?? true;
      return this.options.terminals.create({
        command,
        args,
        cwd: directory,
        env: { ...this.options.environment(withCredentials), ...variablesOf(env) },
        outputByteLimit,
      });
    });
    await this.record('command.started', { command: title, terminalId });
    return { terminalId };
  }

  output = ({ terminalId }: { terminalId: string }) => this.ofTerminal(() => this.options.terminals.output(terminalId));

  async waitForExit({ terminalId }: { terminalId: string }, signal: AbortSignal) {
    const exit = await this.ofTerminal(() => this.options.terminals.waitForExit(terminalId, signal));
    await this.record('command.completed', { terminalId, exitCode: exit.exitCode, signal: exit.signal });
    return exit;
  }

  async kill({ terminalId }: { terminalId: string }): Promise<Record<string, never>> {
    await this.ofTerminal(() => this.options.terminals.kill(terminalId));
    return {};
  }

  async release({ terminalId }: { terminalId: string }): Promise<Record<string, never>> {
    await this.ofTerminal(() => this.options.terminals.release(terminalId));
    return {};
  }

  /** The location of a path in the worktree. @throws RequestError for one that is elsewhere */
  private place(path: string): string {
    const place = pathInWorktree(this.options.worktreePath, path);
    if (place === null) {
      throw RequestError.invalidParams(undefined, `${cut(path, 500)} is not a file of the worktree.`);
    }
    return place;
  }

  private async directory(cwd: string | null | undefined): Promise<string> {
    const { worktreePath, files } = this.options;
    if (cwd === undefined || cwd === null || relative(worktreePath, cwd) === '') {
      return files.directory();
    }
    return files.directory(this.place(cwd));
  }

  /** Checks a tool's use by the rules, or asks people. @returns its first path @throws RequestError when it is refused */
  private async passed(use: ToolUse, title: string, signal: AbortSignal): Promise<string> {
    const verdict = await decide(this.options.rules, () => use);
    const [name] = use.names;
    if (verdict.verdict === 'deny') {
      await this.record('tool.completed', {
        name,
        toolKind: use.kind,
        status: 'refused',
        rule: verdict.rule,
        reason: verdict.reason,
        title,
      });
      throw new RequestError(refusedCode, verdict.reason, { rule: verdict.rule });
    }
    if (verdict.verdict === 'ask' && !(await this.options.approve(use, title, signal))) {
      throw new RequestError(refusedCode, 'It was not approved.', { rule: 'phase' });
    }
    return use.paths?.[0] ?? '';
  }

  private async done<T>(name: string, title: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ContainedFileError || error instanceof TerminalError)) {
        throw error;
      }
      await this.record('tool.completed', { name, status: 'failed', reason: error.message, title });
      throw error instanceof ContainedFileError && error.isAbsent
        ? new RequestError(notFoundCode, error.message)
        : RequestError.invalidParams(undefined, error.message);
    }
  }

  private async ofTerminal<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof TerminalError ? RequestError.invalidParams(undefined, error.message) : error;
    }
  }

  private record(kind: RunEventKind, payload: Record<string, unknown>): Promise<void> {
    return this.options.record(kind, payload);
  }
}

/** A confined run may have programs read, of the worktree alone: no variable and no link may lead them elsewhere. */
async function assertHarmless(
  rules: ToolRules,
  { args, directory, env }: { args: readonly string[]; directory: string; env: string[] },
): Promise<void> {
  const withheld = env.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || withheldBecause(name) !== undefined);
  if (withheld !== undefined) {
    throw new TerminalError(`The variable ${withheld.slice(0, 100)} is withheld from agents.`);
  }
  if (!isConfined(rules)) {
    return;
  }
  if (env.length > 0) {
    throw new TerminalError('The run may not set variables of commands.');
  }
  const outside = await argumentOutside(args, directory, rules.worktreePath);
  if (outside !== undefined) {
    throw new TerminalError(`${cut(outside, 500)} leads out of the worktree.`);
  }
}

const variablesOf = (env: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));

/** Lines from `first` on, counted from 1. */
function linesOf(text: string, first: number, limit: number | undefined): string {
  if (first <= 1 && limit === undefined) {
    return text;
  }
  const from = Math.max(0, first - 1);
  return text
    .split('\n')
    .slice(from, limit === undefined ? undefined : from + limit)
    .join('\n');
}
