import { useSyncExternalStore } from 'react';

/** A value outside of React that components follow. */
export interface Store<T> {
  get: () => T;
  set: (next: T | ((present: T) => T)) => void;
  subscribe: (listener: () => void) => () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const replaced = typeof next === 'function' ? (next as (present: T) => T)(value) : next;
      if (replaced === value) {
        return;
      }
      value = replaced;
      for (const listener of listeners) {
        listener();
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);
