import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import { type CheckFinding, type CheckStep, checkStep } from '../../../contracts/settings/agent-check';
import { compact } from '../../../platform/json/compact';
import { cut } from '../../../platform/text/cut';

/** The steps of a check in their order; what follows a failure is skipped. */
export class CheckFindings {
  private readonly byStep = new Map<CheckStep, CheckFinding>();

  constructor(private readonly redacted: (text: string) => string) {}

  ok(step: CheckStep, message: string): void {
    this.set({ step, status: 'ok', message, remedy: null });
  }

  skipped(step: CheckStep, message: string): void {
    this.set({ step, status: 'skipped', message, remedy: null });
  }

  failed(step: CheckStep, message: string, remedy: string): void {
    this.set({ step, status: 'failed', message, remedy });
  }

  /** It cannot be started at all: the first reason, with the program that it is about. */
  notInstalled([{ message, remedy = '', program, searched }, ...others]: [LaunchFinding, ...LaunchFinding[]]): void {
    const messages = [message, ...others.map((finding) => finding.message)].join(' ');
    this.set({ step: 'installed', status: 'failed', message: messages, remedy, ...compact({ program, searched }) });
  }

  /** Every step once. */
  all(): CheckFinding[] {
    const skipped = { status: 'skipped' as const, message: 'A step that it needs has failed.', remedy: null };
    return checkStep.options.map((step) => this.byStep.get(step) ?? { step, ...skipped });
  }

  private set({ step, message, remedy, ...finding }: CheckFinding): void {
    const bounded = (text: string) => cut(this.redacted(text), 2_000);
    this.byStep.set(step, { step, ...finding, message: bounded(message), remedy: remedy && bounded(remedy) });
  }
}
