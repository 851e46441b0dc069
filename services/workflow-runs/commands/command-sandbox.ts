import type { Socket } from 'node:net';

export interface Program {
  path: string;
  args: readonly string[];
}

/** What one program is confined to. */
export interface SandboxInput {
  /** Names the program among all that run at the time. */
  id: string;
  preset: string;
  /** The one directory of the host that it may change. */
  workspace: string;
  /** The port that it serves; its preset must have a network of its own. */
  serves?: number;
}

/** The sandbox of one program. */
export interface OpenedSandbox {
  wrap: (program: Program) => Promise<Program>;
  /** Variables that the program has besides. */
  environment: Record<string, string>;
  /** Connects to the port that it serves. @throws Error while it is not there */
  connect: () => Promise<Socket>;
  close: () => Promise<void>;
}

/** Confines programs of runs. What does so is handed in where the process is put together. */
export interface CommandSandbox {
  /** Ids of presets; the first is that of commands which name none. */
  presets: readonly [string, ...string[]];
  /** Why this host cannot confine a program as a preset demands; `undefined` when it can. */
  problem: (preset: string) => Promise<string | undefined>;
  /** Why a program of a preset may serve no port; `undefined` when it may. */
  servingProblem: (preset: string) => string | undefined;
  /** @throws Error when the host cannot do it after all */
  open: (input: SandboxInput) => Promise<OpenedSandbox>;
}
