import { defineConfig } from 'vite';

/** The service that `npm run dev` of this folder calls. */
const service = process.env.BOARD_URL ?? 'http://127.0.0.1:3001';

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2024',
    // A strict Content-Security-Policy takes nothing that stands in the document or in an address of data.
    assetsInlineLimit: 0,
    // One small stylesheet: a view would open without its own where that could not be fetched before.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      onwarn(warning, warn) {
        // Packages mark their modules for servers, of which there is none.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') {
          warn(warning);
        }
      },
    },
  },
  server: { proxy: { '/api': service, '/ws': { target: service, ws: true } } },
});
