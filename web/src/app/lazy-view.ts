import { lazyRouteComponent } from '@tanstack/react-router';

/** The code of a view that could not be fetched. Browsers remember that: only a new document fetches it again. */
export class ViewLoadError extends Error {
  override readonly name = 'ViewLoadError';

  constructor(cause: unknown) {
    super('This view could not be loaded: the service does not respond.', { cause });
  }
}

const loads: (() => Promise<unknown>)[] = [];

/** The component of a route whose code is fetched by `preloadViews`, or when it is first needed. */
export function lazyView<T extends Record<string, unknown>, K extends keyof T>(importer: () => Promise<T>, name: K) {
  let loading: Promise<T> | undefined;
  const load = () =>
    (loading ??= importer().catch((error: unknown) => {
      throw new ViewLoadError(error);
    }));
  loads.push(load);
  return lazyRouteComponent(load, name);
}

/** Fetches the code of all views once the browser is idle, so that a view opens also while the service is away. */
export function preloadViews(): void {
  const preload = () => loads.forEach((load) => void load().catch(() => undefined));
  // Safari has no `requestIdleCallback`.
  if ('requestIdleCallback' in window) {
    requestIdleCallback(preload);
  } else {
    setTimeout(preload, 1_000);
  }
}
