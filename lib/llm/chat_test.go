package llm

import (
	"errors"
	"strings"
	"testing"

	"github.com/branchbook/branchbook/lib/llm/internal/llama"
)

// families are templates in the forms that model families publish, shortened
// to what a chat of text needs. llama.cpp recognises each by its marks and
// renders it with code of its own. Gemma's has a conditional in parentheses,
// which gonja does not parse, so llama.cpp's rendering is ours there.
var families = []struct{ name, template string }{
	{"chatml", `{% for message in messages %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}`},
	{"llama 3, trims content", `{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}`},
	{"llama 2, system in the first turn", `{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + content + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ content + '</s>' }}{% endif %}{% endfor %}`},
	{"mistral v7", `{% for message in messages %}{% if message.role == "system" %}[SYSTEM_PROMPT] {{ message.content }}[/SYSTEM_PROMPT]{% elif message.role == "user" %}[INST] {{ message.content }}[/INST]{% else %} {{ message.content }}</s>{% endif %}{% endfor %}`},
	{"gemma, roles renamed, system in the first turn", `{%- if messages[0].role == 'system' -%}{%- set prefix = messages[0].content | trim + '\n\n' -%}{%- set rest = messages[1:] -%}{%- else -%}{%- set prefix = '' -%}{%- set rest = messages -%}{%- endif -%}
{%- for message in rest -%}
  {%- if message.role == 'assistant' -%}{%- set role = 'model' -%}{%- else -%}{%- set role = message.role -%}{%- endif -%}
  {{ '<start_of_turn>' + role + '\n' + (prefix if loop.first else '') + message.content | trim }}{{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%}`},
	{"phi 3", `{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% endif %}`},
	{"phi 4", `{% for message in messages %}<|im_start|>{{ message.role }}<|im_sep|>{{ message.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant<|im_sep|>{% endif %}`},
	{"zephyr", `{% for message in messages %}{% if message['role'] == 'user' %}{{ '<|user|>
' + message['content'] + '<|endoftext|>
' }}{% elif message['role'] == 'system' %}{{ '<|system|>
' + message['content'] + '<|endoftext|>
' }}{% elif message['role'] != 'tool' %}{{ '<|' + message['role'] + '|>
' + message['content'] + '<|endoftext|>
' }}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|' + 'assistant' + '|>
' }}{% endif %}{% endfor %}`},
	{"deepseek 3, namespace", `{%- set ns = namespace(system='') -%}{%- for m in messages if m.role == 'system' -%}{%- set ns.system = ns.system + m.content + '\n\n' -%}{%- endfor -%}{{ ns.system }}{%- for m in messages -%}{%- if m.role == 'user' -%}{{ '<｜User｜>' + m.content }}{%- elif m.role == 'assistant' -%}{{ '<｜Assistant｜>' + m.content + '<｜end▁of▁sentence｜>' }}{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<｜Assistant｜>' }}{%- endif -%}`},
	{"command-r", `{% for message in messages %}{% set content = message['content'] %}{% if message['role'] == 'system' %}{{ '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' + content.strip() + '<|END_OF_TURN_TOKEN|>' }}{% elif message['role'] == 'user' %}{{ '<|START_OF_TURN_TOKEN|><|USER_TOKEN|>' + content.strip() + '<|END_OF_TURN_TOKEN|>' }}{% elif message['role'] == 'assistant' %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' + content.strip() + '<|END_OF_TURN_TOKEN|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}`},
	{"vicuna", `{% for message in messages %}{% if message.role == 'system' %}{{ message.content + '\n\n' }}{% elif message.role == 'user' %}{{ 'USER: ' + message.content + '\n' }}{% else %}{{ 'ASSISTANT: ' + message.content + '</s>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}`},
	{"falcon 3", `{% for message in messages %}{{ '<|' + message.role + '|>\n' + message.content + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}{# <|assistant|> <|user|> </s> #}`},
}

func TestTemplatesRenderAsLlamaCppDoes(t *testing.T) {
	if _, err := llama.Load("", llama.LoadParams{}); errors.Is(err, llama.ErrUnavailable) {
		t.Skip(err)
	}
	chats := []struct {
		name     string
		messages []Message
	}{
		{"one question", User("Why is the sky blue?")},
		{"system first", []Message{{"system", "Be brief."}, {"user", "Hi"}}},
		{"two turns", []Message{{"user", "1+1?"}, {"assistant", "2"}, {"user", "And 2+2?"}}},
		{"system and two turns", []Message{{"system", "Count."}, {"user", "1"}, {"assistant", "2"}, {"user", "3"}}},
		{"lines, quotes and braces", User("a\n\n\"b\" 'c' {{ d }} {% e %} <f>&\\n")},
		{"letters of other scripts", User("écrire 写 🦙")},
	}
	for _, f := range families {
		tmpl, err := newTemplate(f.template)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if byLlama := tmpl.t == nil; byLlama != strings.HasPrefix(f.name, "gemma") {
			t.Errorf("%s: rendered by llama.cpp: %v", f.name, byLlama)
		}
		for _, c := range chats {
			var pairs [][2]string
			for _, m := range c.messages {
				pairs = append(pairs, [2]string{m.Role, m.Content})
			}
			want, ok := llama.BuiltinChat(f.template, pairs, true)
			if !ok {
				t.Fatalf("%s: llama.cpp does not recognise the template", f.name)
			}
			got, err := tmpl.render(c.messages, "<s>", "</s>")
			if err != nil || got != want {
				t.Errorf("%s: %s:\n got %q, %v\nwant %q", f.name, c.name, got, err, want)
			}
		}
	}
}

func TestTemplateMistakes(t *testing.T) {
	for _, c := range []struct{ name, template, want string }{
		{"raises", `{{ raise_exception('roles must alternate') }}`, "roles must alternate"},
		{"does not parse", `{% for m in messages %}`, "template"},
		{"includes a file", `{% include "/etc/hostname" %}`, "may not read"},
		{"unknown filter", `{{ messages | nosuch }}`, "nosuch"},
	} {
		tmpl, err := newTemplate(c.template)
		if err == nil {
			_, err = tmpl.render(User("x"), "", "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", c.name, err, c.want)
		}
	}
}
