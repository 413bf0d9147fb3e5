class Ebb < Formula
  desc "{{.Summary}}"
  homepage "{{.Repository}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{- range $os, $name := .Systems}}

  on_{{$name}} do
    {{- range $arch, $processor := $.Processors}}
    on_{{$processor}} do
      url "{{$.Repository}}/releases/download/v{{$.Version}}/ebb_{{$.Version}}_{{$os}}_{{$arch}}.tar.gz"
      sha256 "{{index $.Sum (printf "%s_%s.tar.gz" $os $arch)}}"
    end
    {{- end}}
  end
{{- end}}

  def install
    bin.install "ebb"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/ebb"
    zsh_completion.install "share/zsh/site-functions/_ebb"
    fish_completion.install "share/fish/vendor_completions.d/ebb.fish"
    (var/"ebb").mkpath
  end

  service do
    run [opt_bin/"ebb", "serve"]
    working_dir var/"ebb"
    keep_alive true
    log_path var/"log/ebb.log"
    error_log_path var/"log/ebb.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ebb version")
  end
end
