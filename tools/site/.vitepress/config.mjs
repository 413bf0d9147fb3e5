// The site is the Markdown of the repository, and nothing else: npm ci && npm run build, from this folder.
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");
const code = "https://github.com/ebbflow/ebb/blob/main/";
const parts = {
	Start: ["README.md", "docs/how-to/install.md", "docs/tutorial"], "How to": ["docs/how-to"],
	Explanation: ["docs/explanation"], Reference: ["docs/reference", "CHANGELOG.md"],
};

// pages returns the pages of files and folders: their name, title and first sentence.
function pages(names) {
	return names.flatMap((name) => {
		const file = path.join(root, name);
		if (fs.statSync(file).isDirectory()) {
			return pages(fs.readdirSync(file).filter((n) => n.endsWith(".md")).sort().map((n) => `${name}/${n}`));
		}
		const text = fs.readFileSync(file, "utf8").replace(/<!--[^]*?-->/g, "").trim();
		const [, title] = /^# (.*)/.exec(text) ?? [, path.basename(name, ".md")];
		const [first] = /^[^#|<-][^]*?[^:](?=\. |\.?$)/.exec(text.split(/\n\n+/)[1] ?? "") ?? [""];
		return [{ name, title, about: first.replace(/\s+/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1") }];
	});
}

const page = (name) => name === "README.md" ? "index" : name.replace(/\.md$/, "");

export default {
	title: "Ebb",
	description: "Durable workflows with built-in undo",
	base: process.env.BASE ?? "/",
	srcDir: root,
	srcExclude: ["CONTRIBUTING.md", "SECURITY.md", ...fs.readdirSync(root).filter((n) => !/docs|\.md$/.test(n)).map((n) => `${n}/**`)],
	rewrites: { "README.md": "index.md" },
	vite: {
		resolve: {
			alias: [
				{ find: /^docs\/images/, replacement: path.join(root, "docs/images") },
				{ find: /^vue(?=\/server-renderer|$)/, replacement: path.resolve("node_modules/vue") },
			],
		},
		build: { chunkSizeWarningLimit: 5000 },
	},
	themeConfig: {
		search: { provider: "local" },
		socialLinks: [{ icon: "github", link: "https://github.com/ebbflow/ebb" }],
		sidebar: Object.entries(parts).map(([text, names]) => ({
			text, items: pages(names).map((p) => ({ text: p.title, link: `/${page(p.name)}` })),
		})),
	},
	markdown: {
		config(md) {
			// Text in braces is text, also outside of code.
			const html = md.renderer.rules.text;
			md.renderer.rules.text = (...args) => html(...args).replaceAll("{{", "&#123;&#123;");
			// What is no page of the site is in the repository.
			md.core.ruler.push("repository", (state) => {
				for (const token of state.tokens.flatMap((t) => t.children ?? [])) {
					const href = token.type === "link_open" && token.attrGet("href");
					if (!href || /^(#|[a-z]+:)/.test(href)) continue;
					const file = path.posix.join(path.posix.dirname(state.env.relativePath.replace(/^index\.md$/, "README.md")), href.replace(/#.*/, ""));
					if (!/^(docs\/.*|README|CHANGELOG)\.md$/.test(file)) token.attrSet("href", code + file);
				}
			});
		},
	},
	// llms.txt lists the pages, and each page is there as Markdown, too.
	buildEnd({ outDir }) {
		let list = `# Ebb\n\n> ${pages(["README.md"])[0].about}\n`;
		for (const [part, names] of Object.entries(parts)) {
			list += `\n## ${part}\n\n`;
			for (const p of pages(names)) {
				list += `- [${p.title}](/${p.name})${p.about && `: ${p.about}`}\n`;
				fs.mkdirSync(path.dirname(path.join(outDir, p.name)), { recursive: true });
				fs.copyFileSync(path.join(root, p.name), path.join(outDir, p.name));
			}
		}
		fs.writeFileSync(path.join(outDir, "llms.txt"), list);
	},
};
